//! The lease of a pair on PostgreSQL.

use super::sql;
use crate::{
    Error,
    postgres::{
        failed::Failed,
        session::{Db, Session},
    },
    sites::{LeaseQuestion, lease_answer, whole_millis},
};
use domain::pair::{LeaseAnswer, WitnessRow};
use std::time::Duration;
use tokio_postgres::Row;

pub(super) async fn ask(db: &Db, asked: &LeaseQuestion) -> Result<LeaseAnswer, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let found = tx
        .opt(
            sql::lease_get,
            &[&db.now(), &asked.tenant.0, &asked.site.as_str()],
        )
        .await?;
    let known = found.ok_or_else(|| Error::Refused(format!("site {} is not known", asked.site)))?;
    let known = lease_row(&known);
    let identity = tx.one(sql::database, &[]).await?;
    let (id, epoch): (&str, &str) = (identity.get("id"), identity.get("epoch"));
    let (written, answer) = lease_answer(asked, known.as_ref(), &format!("{id}.{epoch}"));
    if let Some(row) = written {
        let changed = tx
            .exec(
                sql::lease_put,
                &[
                    &db.now(),
                    &asked.tenant.0,
                    &asked.site.as_str(),
                    &i64::try_from(row.rank.0).unwrap_or(i64::MAX),
                    &row.rank.1,
                    &row.holder,
                    &(whole_millis(row.left) as f64),
                    &row.database,
                    &row.doubt,
                    &known
                        .as_ref()
                        .map(|row| i64::try_from(row.rank.0).unwrap_or(i64::MAX)),
                    &known.as_ref().map(|row| row.rank.1),
                ],
            )
            .await?;
        if changed == 0 {
            return Err(Error::corrupt("sites", "a lease that was just read is gone").into());
        }
    }
    tx.commit().await?;
    Ok(answer)
}

/// None where nobody has asked yet.
fn lease_row(row: &Row) -> Option<WitnessRow> {
    let counter: i64 = row.get::<_, Option<i64>>("lease_counter")?;
    let left = row.get::<_, Option<f64>>("lease_left").unwrap_or_default();
    Some(WitnessRow {
        rank: (
            counter.max(0).unsigned_abs(),
            row.get::<_, Option<_>>("lease_turn").unwrap_or_default(),
        ),
        holder: row.get("lease_holder"),
        // Up: what is left of a millisecond is still left.
        left: Duration::from_millis(left.ceil() as u64),
        database: row.get::<_, Option<String>>("lease_database").unwrap_or_default(),
        doubt: row.get::<_, Option<bool>>("lease_doubt").unwrap_or(true),
    })
}
