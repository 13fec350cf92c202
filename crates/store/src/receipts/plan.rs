//! What follows from a receipt: for its recipient, for the notification, in the log. Decided here, written down by each database.
//!
//! Always true: a plan is made of what was found and of nothing else, and nobody changes that until it is carried out.

use super::{DoneAs, SentMessage};
use domain::{
    Channel, LaneId, NotificationId, ProviderId, Receipt, ReceiptState, Recipient, RecipientResult,
    RecipientState, Seq, Status, TenantId, Timestamp,
    receipt::{Effect, Place, Standing, overall},
    settle::{Cause, PARTIAL},
};

/// The notification that a receipt is about, as it was found; nobody else changes it until the plan is carried out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub seq: Seq,
    pub id: NotificationId,
    pub tenant: TenantId,
    pub site: Option<String>,
    pub lane: LaneId,
    pub provider: Option<ProviderId>,
    pub last_attempt_at: Option<Timestamp>,
    pub place: Place,
    pub generation: i32,
    pub overall: Option<ReceiptState>,
    pub recipients: Vec<RecipientResult>,
    pub channel: Channel,
    /// Who is named; none where a list or the settings say.
    pub named: Option<Vec<String>>,
    /// Who is on its list now; none where there is no such list.
    pub listed: Option<Vec<Recipient>>,
}

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender<'a> {
    pub provider: &'a str,
    /// Or a little earlier.
    pub sent_at: Timestamp,
}

impl Found {
    /// Not known of a message of an earlier round. Of several recipients each may have got it from another provider, at
    /// another time; the claim comes before the sending, what is kept of a recipient after it.
    pub fn sender(&self, sent: &SentMessage) -> Option<Sender<'_>> {
        let of_now = |r: &&RecipientResult| r.address == sent.address && r.generation == self.generation;
        let known = self.recipients.iter().find(of_now);
        let by = known.and_then(|known| known.provider.as_deref());
        let sent_at = [self.last_attempt_at, known.map(|known| known.at)];
        (sent.generation == self.generation).then_some(Sender {
            provider: by.or(self.provider.as_ref().map(ProviderId::as_str))?,
            sent_at: sent_at.into_iter().flatten().min()?,
        })
    }
}

/// What is to be written down.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub recipient: Option<RecipientResult>,
    pub row: RowPlan,
    pub log: Option<LogPlan>,
    pub then: Then,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RowPlan {
    Stays,
    /// What is shown beside its status.
    Shows(ReceiptState),
    Park {
        cause: Cause,
        still_with: Vec<String>,
    },
    Deliver {
        with: Vec<String>,
        shows: ReceiptState,
    },
}

/// A line in the log of the notification.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogPlan {
    /// Whether the notification came to another end; otherwise it is only told.
    pub ended: Option<Status>,
    pub code: Option<String>,
    pub provider_code: Option<String>,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Done(DoneAs),
    Later,
}

/// What follows from a receipt about this message.
pub(crate) fn plan(found: &Found, sent: &SentMessage, receipt: &Receipt, now: Timestamp) -> Plan {
    let known = found.recipients.iter().find(|r| r.address == sent.address);
    let one_by_one = !found.recipients.is_empty();
    let standing = Standing {
        place: found.place,
        generation: found.generation,
        recipient: known,
        overall: found.overall.filter(|_| !one_by_one),
    };
    let applied = Plan {
        recipient: None,
        row: RowPlan::Stays,
        log: None,
        then: Then::Done(DoneAs::Applied),
    };
    let own = Own {
        found,
        sent,
        receipt,
        known,
        now,
    };
    match standing.effect(sent.generation, receipt.state) {
        Effect::Nothing => Plan {
            row: own.catch_up(),
            then: Then::Done(DoneAs::Known),
            ..applied
        },
        Effect::Later => Plan {
            then: Then::Later,
            ..applied
        },
        Effect::Tell => Plan {
            log: Some(own.told(None)),
            ..applied
        },
        Effect::Note(state) => Plan {
            row: RowPlan::Shows(state),
            log: (receipt.state == ReceiptState::Failed).then(|| own.told(None)),
            ..applied
        },
        Effect::Has { state, then_later } => own.has_it(state, then_later, applied),
        Effect::Failed => own.failed(applied),
    }
}

/// One recipient's receipt and what is known besides.
struct Own<'a> {
    found: &'a Found,
    sent: &'a SentMessage,
    receipt: &'a Receipt,
    known: Option<&'a RecipientResult>,
    now: Timestamp,
}

impl Own<'_> {
    /// What was learned of a recipient while the notification was being sent is shown once that has ended.
    fn catch_up(&self) -> RowPlan {
        match (self.found.place, overall(&self.found.recipients)) {
            (Place::Ended(_), Some(shows)) if self.found.overall != Some(shows) => RowPlan::Shows(shows),
            _ => RowPlan::Stays,
        }
    }

    fn has_it(&self, state: ReceiptState, then_later: bool, applied: Plan) -> Plan {
        let result = self.result(RecipientState::Accepted, state);
        let everybody = self.with(&result);
        let all_have_it = self.is_with_everybody(&everybody);
        let shows = match self.found.recipients.is_empty() && all_have_it {
            true => state,
            false => overall(&everybody).unwrap_or(state),
        };
        let row = match self.found.place {
            Place::Ended(Status::Delivered) => RowPlan::Shows(shows),
            Place::Waiting { leased: true } => RowPlan::Stays,
            _ if all_have_it => RowPlan::Deliver {
                with: accepted(&everybody),
                shows,
            },
            Place::Ended(_) => RowPlan::Shows(shows),
            Place::Waiting { .. } => RowPlan::Stays,
        };
        // Where one recipient is all there is, the notification's own row says everything, once it has ended.
        let alone = self.found.recipients.is_empty()
            && all_have_it
            && !matches!(self.found.place, Place::Waiting { leased: true });
        let delivers = matches!(row, RowPlan::Deliver { .. });
        Plan {
            recipient: (!alone && self.known != Some(&result)).then_some(result),
            log: delivers.then(|| self.told(Some(Status::Delivered))),
            row,
            then: match then_later {
                true => Then::Later,
                false => applied.then,
            },
        }
    }

    fn failed(&self, applied: Plan) -> Plan {
        let result = RecipientResult {
            code: self.receipt.code.clone(),
            provider_code: self.receipt.provider_code.clone(),
            error: Some(self.words()),
            ..self.result(RecipientState::Failed, ReceiptState::Failed)
        };
        let everybody = self.with(&result);
        let still_with = accepted(&everybody);
        let row = match self.found.place {
            Place::Ended(Status::Delivered) => RowPlan::Park {
                cause: Cause {
                    code: match still_with.is_empty() {
                        true => self.receipt.code.clone().unwrap_or_else(|| "UNKNOWN".into()),
                        false => PARTIAL.into(),
                    },
                    provider_code: self.receipt.provider_code.clone(),
                    error: self.words(),
                },
                still_with,
            },
            Place::Ended(_) => RowPlan::Shows(ReceiptState::Failed),
            Place::Waiting { .. } => RowPlan::Stays,
        };
        let ended = matches!(row, RowPlan::Park { .. }).then_some(Status::Parked);
        let one_by_one = !self.found.recipients.is_empty();
        Plan {
            recipient: one_by_one.then_some(result),
            log: Some(self.told(ended)),
            row,
            ..applied
        }
    }

    fn result(&self, state: RecipientState, receipt: ReceiptState) -> RecipientResult {
        let of_now = self.known.filter(|known| known.state == state);
        RecipientResult {
            address: self.sent.address.clone(),
            state,
            generation: of_now.map_or(self.found.generation, |known| known.generation),
            provider_message_id: of_now
                .and_then(|known| known.provider_message_id.clone())
                .or_else(|| self.receipt.provider_message_id.clone()),
            code: None,
            provider_code: None,
            error: None,
            at: of_now.map_or(self.now, |known| known.at),
            receipt: Some(receipt),
            provider: self.known.and_then(|known| known.provider.clone()),
            tries: self.known.map_or(0, |known| known.tries),
            not_before: None,
        }
    }

    /// What is known of everybody, with this in the place of what was known of its recipient.
    fn with(&self, result: &RecipientResult) -> Vec<RecipientResult> {
        let others = self
            .found
            .recipients
            .iter()
            .filter(|r| r.address != result.address);
        others.cloned().chain([result.clone()]).collect()
    }

    /// Whether everybody whom it is meant for has it.
    fn is_with_everybody(&self, everybody: &[RecipientResult]) -> bool {
        let has = |address: &str| {
            let one = everybody.iter().find(|r| r.address == address);
            one.is_some_and(|r| r.state == RecipientState::Accepted)
        };
        let listed = self.found.listed.as_ref().map(|list| {
            let taking = list.iter().filter(|r| r.takes(self.found.channel));
            taking.map(|r| r.address.clone()).collect::<Vec<_>>()
        });
        match self.found.named.as_ref().or(listed.as_ref()) {
            Some(meant) if !meant.is_empty() => meant.iter().all(|address| has(address)),
            _ => everybody.iter().all(|r| r.state == RecipientState::Accepted),
        }
    }

    fn words(&self) -> String {
        let told = self.receipt.detail.as_deref();
        let code = self.receipt.provider_code.as_deref();
        match (told, code) {
            (Some(told), Some(code)) => format!("the provider told later that it failed: {told} ({code})"),
            (Some(told), None) => format!("the provider told later that it failed: {told}"),
            (None, Some(code)) => format!("the provider told later that it failed ({code})"),
            (None, None) => "the provider told later that it failed".into(),
        }
    }

    fn told(&self, ended: Option<Status>) -> LogPlan {
        let failed = self.receipt.state == ReceiptState::Failed;
        let to = match self.sent.address.as_str() {
            "" => String::new(),
            address => format!("{address}: "),
        };
        let old = match self.sent.generation < self.found.generation {
            true => " (of an earlier round)",
            false => "",
        };
        let what = match failed {
            true => self.words(),
            false => format!("receipt: {}", self.receipt.state),
        };
        LogPlan {
            ended,
            code: self.receipt.code.clone().filter(|_| failed),
            provider_code: self.receipt.provider_code.clone().filter(|_| failed),
            detail: format!("{to}{what}{old}"),
        }
    }
}

fn accepted(everybody: &[RecipientResult]) -> Vec<String> {
    let have = everybody.iter().filter(|r| r.state == RecipientState::Accepted);
    have.map(|r| r.address.clone())
        .filter(|address| !address.is_empty())
        .collect()
}
