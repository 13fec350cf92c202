//! Many recipients, each a request of its own: asked for in chunks.
//!
//! Always true: where a message costs money, a recipient is marked before being asked for whenever there are more than one
//! request's worth of them, and what became of each chunk is kept before the next: a crash leaves in doubt those of one chunk.
//! Who was marked and then not asked for is open again with what is kept about the others. Once the lane is held or paused, the
//! chunk that is out is the last.

use super::{
    Written,
    noted::Noted,
    recipients::{marks, reopened, reports_of, updates, without_report},
};
use crate::{
    directory::LaneEntry,
    dispatcher::attempt::{AttemptContext, Row, would_meet_others},
};
use delivery::{Adapter, Message};
use domain::{OnAmbiguous, Outcome, settle::RecipientUpdate};
use std::time::Duration;

/// The most recipients that are asked for one by one before what became of them is kept.
const CHUNK: usize = 10;

/// What asking came to.
#[derive(Debug, Default)]
pub(super) struct SendOutcome {
    /// None where nobody was asked.
    pub outcome: Option<Outcome>,
    /// Of these the store knows already.
    pub noted: Vec<String>,
    /// They were marked, and then their turn did not come.
    pub reopened: Vec<RecipientUpdate>,
}

impl From<Option<Outcome>> for SendOutcome {
    fn from(outcome: Option<Outcome>) -> Self {
        Self {
            outcome,
            ..Self::default()
        }
    }
}

impl AttemptContext {
    /// Each chunk has the time of an attempt, and what became of it is kept before the next.
    pub(super) async fn send_in_chunks(
        &self,
        of: Written<'_>,
        adapter: &dyn Adapter,
        message: &Message,
        size: usize,
    ) -> SendOutcome {
        let Written { row, entry, .. } = of;
        let marked = entry.on_ambiguous == OnAmbiguous::Park;
        let (mut reports, mut noted, mut open_again) = (vec![], vec![], vec![]);
        let mut chunks = message.targets.chunks(size).peekable();
        while let Some(chunk) = chunks.next() {
            if !reports.is_empty() && of.turn.is_over() {
                break;
            }
            let on_record = match marked {
                true => self.note(row, entry, marks(chunk)).await,
                false => Noted::Kept,
            };
            if on_record == Noted::Unknown {
                open_again.extend(reopened(row, chunk));
            }
            if on_record != Noted::Kept {
                break;
            }
            let part = Message {
                targets: chunk.to_vec(),
                ..message.clone()
            };
            let Some(outcome) = self.send_at_once(of, adapter, &part).await else {
                break;
            };
            let over = would_meet_others(&outcome) || self.abandon.is_cancelled();
            let unasked = match marked {
                true => reopened(row, without_report(&outcome, chunk)),
                false => vec![],
            };
            if !over && chunks.peek().is_some() {
                let mut became = updates(row, entry, chunk, outcome.clone());
                became.extend(unasked.iter().cloned());
                if self.note(row, entry, became).await == Noted::Kept {
                    noted.extend(chunk.iter().cloned());
                }
            }
            open_again.extend(unasked);
            reports.extend(reports_of(outcome, chunk));
            if over {
                break;
            }
            if let (Some(rate), true) = (entry.limits.per_second, chunks.peek().is_some()) {
                let pace = Duration::try_from_secs_f64(chunk.len() as f64 / rate).unwrap_or(self.timeout);
                tokio::time::sleep(pace).await;
            }
        }
        SendOutcome {
            outcome: (!reports.is_empty()).then_some(Outcome::Mixed(reports)),
            noted,
            reopened: open_again,
        }
    }
}

/// How many are asked for before what became of them is kept; none: all at once.
pub(super) fn chunk_size(
    row: &Row,
    entry: &LaneEntry,
    adapter: &dyn Adapter,
    targets: usize,
) -> Option<usize> {
    if targets == 0 || !adapter.asks_one_by_one() {
        return None;
    }
    let in_a_second = entry
        .limits
        .per_second
        .map_or(CHUNK, |rate| (rate as usize).clamp(1, CHUNK));
    let marked = entry.on_ambiguous == OnAmbiguous::Park && row.has_marks();
    (targets > in_a_second || marked).then_some(in_a_second)
}
