//! Reading the audit log. What was accepted is not in it, nor the attempt that delivered: those rows are read from the
//! notifications and their outcomes, and merged by time. A row of an attempt that ended its notification is read as two.
//!
//! Always true: all rows have one total order, `(at, number)`, whatever they were read from, so that a page can end
//! between any two of them.

use super::entry::INTERRUPTED;
use crate::query::{AuditFilter, AuditRow, Cursor};
use domain::{AuditKind, AuditStatus, DeliveryState, NotificationId, Timestamp};

/// Accepted notifications are numbered below everything else: at the same moment they came first.
const SENDS: i64 = -(1 << 62);
/// Deliveries come next: to the number of a notification this is added, twice.
pub(crate) const DELIVERIES: i64 = -(1 << 60);

pub(crate) type Numbered = (Cursor, AuditRow);

/// From where on each source is read for a page that begins at a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Starts {
    pub at: Timestamp,
    pub log: i64,
    pub deliveries: i64,
    pub sends: i64,
}

impl Starts {
    pub fn of(start: Cursor) -> Self {
        // Two numbers to a row of the log. A cursor among the accepted is below all of them, and the other way round.
        let log = start.seq.div_euclid(2);
        Self {
            at: start.at,
            log,
            deliveries: log.saturating_sub(DELIVERIES),
            sends: match start.seq < 0 {
                true => start.seq.saturating_sub(SENDS),
                false => i64::MAX,
            },
        }
    }
}

/// Which of the log, the deliveries and the accepted notifications can have a row the filter asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sources {
    pub log: bool,
    pub deliveries: bool,
    pub sends: bool,
}

impl AuditFilter {
    pub(crate) fn sources(&self) -> Sources {
        let is_send = self.kind.map(|kind| kind == AuditKind::NotifySend);
        let is_submitted = self.status.map(|status| status == AuditStatus::Submitted);
        let may_be = |send| is_send.is_none_or(|is| is == send) && is_submitted.is_none_or(|is| is == send);
        Sources {
            log: may_be(false),
            deliveries: may_be(false) && !self.retried,
            sends: may_be(true) && !self.retried,
        }
    }

    pub(crate) fn passes(&self, row: &AuditRow) -> bool {
        self.kind.is_none_or(|kind| row.kind == kind)
            && self.status.is_none_or(|status| row.status == status)
            && self.actor.as_ref().is_none_or(|actor| row.actor == *actor)
            && (!self.retried || row.is_tried_again())
    }
}

impl AuditRow {
    /// One that was cut off does not count: how it would have ended is not known. What cost no try is not told from what did:
    /// the log does not keep why its notification went on.
    fn is_tried_again(&self) -> bool {
        let failed = DeliveryState::of_logged(self.kind, self.status, self.code.as_deref());
        let was_cut_off = self.code.as_deref() == Some(INTERRUPTED);
        failed == Some(DeliveryState::Failed) && !was_cut_off && !self.was_last
    }
}

/// A row of the log as it is shown, newest first: the end, if the attempt ended its notification, then the attempt.
pub(crate) fn of_log(
    audit_id: i64,
    ended_as: Option<AuditStatus>,
    logged: AuditRow,
) -> impl Iterator<Item = Numbered> {
    let (at, number) = (logged.at, 2 * audit_id);
    let logged = AuditRow {
        was_last: ended_as.is_some(),
        ..logged
    };
    let ended = ended_as.map(|status| AuditRow {
        status,
        duration_ms: None,
        ..logged.clone()
    });
    ended
        .map(|row| (Cursor { at, seq: number + 1 }, row))
        .into_iter()
        .chain([(Cursor { at, seq: number }, logged)])
}

/// What the log would say about a notification that was taken in.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub seq: i64,
    pub at: Timestamp,
    pub id: NotificationId,
    pub subject: Option<String>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
    pub actor: String,
    pub site: Option<String>,
    pub target: Option<String>,
}

impl From<Accepted> for Numbered {
    fn from(sent: Accepted) -> Self {
        let place = Cursor {
            at: sent.at,
            seq: SENDS + sent.seq,
        };
        let row = AuditRow {
            at: sent.at,
            kind: AuditKind::NotifySend,
            status: AuditStatus::Submitted,
            notification: Some(sent.id),
            subject: sent.subject,
            operation: None,
            execution: sent.execution,
            parent_execution: sent.parent_execution,
            actor: sent.actor,
            site: sent.site,
            target: sent.target,
            duration_ms: None,
            code: None,
            provider_code: None,
            detail: None,
            attempt: None,
            was_last: false,
            has_transcript: false,
        };
        (place, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_ends_anywhere_goes_on_with_the_next_row_of_every_source() {
        let place = |seq| Cursor {
            at: Timestamp::EPOCH,
            seq,
        };
        let sent = Starts::of(place(SENDS + 5));
        assert_eq!(sent.sends, 5);
        assert!(
            sent.log < DELIVERIES && sent.deliveries <= 0,
            "both came after it: {sent:?}"
        );
        let logged = Starts::of(place(2 * 5 + 1));
        assert_eq!((logged.log, logged.sends), (5, i64::MAX));
        let delivered = Starts::of(place(2 * (DELIVERIES + 5)));
        assert_eq!((delivered.deliveries, delivered.log), (5, DELIVERIES + 5));
        assert!(
            delivered.sends > i64::MAX / 4,
            "every notification came before it"
        );
    }

    #[test]
    fn a_source_that_cannot_have_the_row_is_not_read() {
        let sources = |kind, status| {
            let filter = AuditFilter {
                kind,
                status,
                ..AuditFilter::default()
            };
            let Sources {
                log,
                deliveries,
                sends,
            } = filter.sources();
            assert_eq!(deliveries, log);
            (log, sends)
        };
        assert_eq!(sources(None, None), (true, true));
        assert_eq!(sources(Some(AuditKind::NotifySend), None), (false, true));
        assert_eq!(sources(None, Some(AuditStatus::Parked)), (true, false));
        assert_eq!(
            sources(Some(AuditKind::NotifySend), Some(AuditStatus::Parked)),
            (false, false)
        );
        let retried = AuditFilter {
            retried: true,
            ..AuditFilter::default()
        };
        let Sources {
            log,
            deliveries,
            sends,
        } = retried.sources();
        assert_eq!((log, deliveries, sends), (true, false, false));
    }
}
