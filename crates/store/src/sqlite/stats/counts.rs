//! Counts over time, gathered while a group of commands runs and added once per commit.

use super::sql;
use domain::{TenantId, Timestamp, kpi};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// One process writes an embedded store, so its rows need no writer's name.
const WRITER: &str = "";

/// What is counted; the words are those of the status a row came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::sqlite) enum Counted {
    Accepted,
    Retried,
    Delivered,
    Parked,
    Discarded,
}

impl Counted {
    pub(in crate::sqlite) fn as_str(self) -> &'static str {
        match self {
            Counted::Accepted => "Accepted",
            Counted::Retried => "Retried",
            Counted::Delivered => "Delivered",
            Counted::Parked => "Parked",
            Counted::Discarded => "Discarded",
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<(Timestamp, TenantId, String, Counted), i64>);

impl Counts {
    pub(in crate::sqlite) fn one(
        &mut self,
        now: Timestamp,
        tenant: TenantId,
        site: Option<&str>,
        what: Counted,
    ) {
        let key = (
            now.bucket(kpi::BUCKET),
            tenant,
            site.unwrap_or("").to_owned(),
            what,
        );
        *self.0.entry(key).or_default() += 1;
    }

    pub(in crate::sqlite) fn add(&mut self, other: Counts) {
        for (key, n) in other.0 {
            *self.0.entry(key).or_default() += n;
        }
    }

    pub(in crate::sqlite) fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut add = conn.prepare_cached(sql::stats_add)?;
        for ((bucket, tenant, site, what), n) in &self.0 {
            add.execute(params![
                bucket.as_millis(),
                tenant.0,
                site,
                what.as_str(),
                WRITER,
                n
            ])?;
        }
        Ok(())
    }
}
