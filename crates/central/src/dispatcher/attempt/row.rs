//! A claimed row: what is remembered of it while it is being sent, and what goes out.

use domain::{Content, RecipientResult, RecipientState, Timestamp, TraceContext, settle::RecipientUpdate};
use store::outbox::{Claimed, Lease};

/// What is remembered of a row while it is being sent.
#[derive(Debug)]
pub(in crate::dispatcher) struct Row {
    pub lease: Lease,
    pub tenant: domain::TenantId,
    pub id: domain::NotificationId,
    pub lane: domain::LaneId,
    pub generation: i32,
    /// A newer one with the same key came while an earlier claim was out.
    pub superseded: bool,
    pub attempts: u32,
    pub unknowns: u32,
    pub interruptions: u32,
    pub waiting_since: Timestamp,
    pub known: Vec<RecipientResult>,
    /// Who is left out of this attempt, because they asked not to be written to.
    pub left_out: Vec<RecipientUpdate>,
    /// Who was marked as asked for in this attempt and then was not.
    pub reopened: Vec<RecipientUpdate>,
    /// The way out for the one recipient of a mail.
    pub unsubscribe: Option<String>,
    /// The hold that this row was let through to see whether the lane is well again.
    pub probe: Option<domain::Hold>,
    /// The claim's step of a trace, and the attempt's below it.
    pub claim_step: Option<TraceContext>,
    pub attempt_step: Option<TraceContext>,
}

impl Row {
    /// Results are kept per recipient only where there is more than one.
    pub fn left_out_if_tracked(&self) -> Vec<RecipientUpdate> {
        match self.left_out.len() + self.known.len() > 1 {
            true => self.left_out.clone(),
            false => vec![],
        }
    }

    /// Of some recipients it is not known whether they have it. From the first of them on nobody is asked for without being
    /// marked before, so that who is not marked has certainly not been asked for.
    pub fn has_marks(&self) -> bool {
        let marked =
            |r: &RecipientResult| r.state == RecipientState::Ambiguous && r.generation == self.generation;
        self.known.iter().any(marked)
    }
}

/// A claimed row taken apart: what is remembered of it, and what goes out.
pub(super) fn split(claimed: Claimed, probe: Option<domain::Hold>) -> (Row, Outgoing) {
    let row = Row {
        lease: claimed.lease,
        tenant: claimed.tenant,
        id: claimed.id,
        lane: claimed.lane,
        generation: claimed.generation,
        superseded: claimed.superseded,
        attempts: claimed.attempts,
        unknowns: claimed.unknowns,
        interruptions: claimed.interruptions,
        waiting_since: claimed.waiting_since,
        known: claimed.known,
        left_out: vec![],
        reopened: vec![],
        unsubscribe: None,
        probe,
        claim_step: claimed.trace,
        attempt_step: None,
    };
    let outgoing = Outgoing {
        content: claimed.content,
        site: claimed.site,
        created_at: claimed.created_at,
    };
    (row, outgoing)
}

/// The part of a claimed row that goes out.
pub(in crate::dispatcher) struct Outgoing {
    pub content: Box<Content>,
    pub site: Option<String>,
    pub created_at: Timestamp,
}

impl Outgoing {
    pub fn message(self, row: &Row, targets: Vec<String>) -> delivery::Message {
        delivery::Message {
            id: row.id,
            content: self.content,
            targets,
            site: self.site,
            created_at: self.created_at,
            trace: row.attempt_step,
            unsubscribe: row.unsubscribe.clone(),
        }
    }
}
