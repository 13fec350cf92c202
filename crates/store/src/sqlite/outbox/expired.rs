//! Parking what waits past its time, whatever it waits for.

use super::{
    record::{self, Left, Outcome},
    sql,
};
use crate::{
    Result,
    audit::Entry,
    outbox::expired_in_words,
    sqlite::{audit, writer::WriteSession},
};
use domain::{Actor, AuditKind, AuditStatus, NotificationId, Status, TenantId, code::EXPIRED};
use rusqlite::params;
use uuid::Uuid;

pub(super) fn park(s: &mut WriteSession<'_>, limit: u32) -> Result<Vec<(TenantId, NotificationId)>> {
    let overdue: Vec<(Left, bool, [u8; 16])> = s
        .conn
        .prepare_cached(sql::park_expired)?
        .query_map(params![s.now.as_millis(), limit], |row| {
            Ok((Left::from_row(row)?, row.get(11)?, row.get(12)?))
        })?
        .collect::<Result<_, _>>()?;
    let actor = Actor::system();
    let mut parked = Vec::with_capacity(overdue.len());
    for (left, interrupted, id) in overdue {
        let words = expired_in_words(interrupted);
        let end = Outcome {
            code: Some(EXPIRED),
            error: Some(&words),
            ..Outcome::new(Status::Parked)
        };
        record::end(s, &left, left.attempts, &end)?;
        let entry = Entry {
            seq: Some(left.seq),
            status: AuditStatus::Parked,
            code: Some(EXPIRED),
            detail: Some(&words),
            ..Entry::new(left.tenant, AuditKind::NotifyDeliver, &actor)
        };
        audit::insert(s, &entry)?;
        parked.push((left.tenant, NotificationId(Uuid::from_bytes(id))));
    }
    Ok(parked)
}
