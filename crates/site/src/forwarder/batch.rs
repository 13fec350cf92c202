//! One batch: out of the buffer, over the link, and what central said written down.

use super::Forwarder;
use crate::{payload, payload::NotificationPayload};
use domain::{
    NotificationId, TraceContext,
    site::DatabaseIdentity,
    trace::{Span, SpanKind},
};
use link::{Ack, Forward};
use std::time::Instant;
use store::{
    Result,
    buffer::{Handed, Waiting},
};
use tracing::{info, warn};

/// Notifications in a batch, and about how many bytes.
const BATCH: u32 = 500;
const BATCH_BYTES: usize = 1 << 20;

/// Rows on their way, by their place in the buffer.
pub(super) struct Batch {
    seqs: Vec<i64>,
    notifications: Vec<Forward>,
    /// Each one's step of a trace, and the one it goes on from.
    steps: Vec<Option<(TraceContext, TraceContext)>>,
    /// The place of the last row that was looked at.
    pub(super) last: i64,
}

/// What central's answers to a batch come to.
pub(super) enum Settled {
    All,
    /// Central wants to be asked again about the others.
    Some,
    /// Nothing is known.
    None,
}

impl Forwarder {
    /// The next batch behind this place. What cannot be read is parked on the way.
    pub(super) async fn next_batch(&self, place: i64) -> Result<Option<Batch>> {
        let mut batch = Batch {
            seqs: vec![],
            notifications: vec![],
            steps: vec![],
            last: place,
        };
        while batch.seqs.is_empty() {
            let found = self.buffer.forwardable(batch.last, BATCH, BATCH_BYTES).await?;
            let Some(last) = found.last() else {
                return Ok(None);
            };
            batch.last = last.seq;
            for waiting in found {
                let (seq, id) = (waiting.seq, waiting.id);
                match forwarded(waiting) {
                    Ok(mut forward) => {
                        let parent = forward.trace;
                        forward.trace = self.settings.tracer.child(parent);
                        batch.steps.push(forward.trace.zip(parent));
                        batch.seqs.push(seq);
                        batch.notifications.push(forward);
                    }
                    Err(why) => {
                        warn!(notification.id = %id, error = why, "a buffered notification cannot be read and is parked");
                        // Where there is no room for that it stays, and the others go.
                        self.buffer.park_forward(seq, &why).await?;
                    }
                }
            }
        }
        Ok(Some(batch))
    }

    /// Hands a batch over and writes down what central said about it.
    pub(super) async fn carry(&self, central: &DatabaseIdentity, batch: Batch) -> Result<Settled> {
        let start = Instant::now();
        let acks = match self.uplink.submit(batch.notifications).await {
            Ok(acks) => acks,
            Err(down) => {
                info!(
                    why = down.why,
                    "the link broke; what was under way is sent again when it is back"
                );
                self.tell(batch.steps, &[], start);
                return Ok(Settled::None);
            }
        };
        self.tell(batch.steps, &acks, start);
        let mut handed = Handed::default();
        let mut waiting = batch.seqs.len();
        for (seq, ack) in batch.seqs.into_iter().zip(acks) {
            match ack {
                Ack::Accepted | Ack::Duplicate => handed.acked.push(seq),
                Ack::Refused(why) => handed
                    .refused
                    .push((seq, format!("REFUSED: central refused it: {why}"))),
                Ack::NotNow(why) => {
                    tracing::debug!(why, "central cannot take it now");
                    continue;
                }
            }
            waiting -= 1;
        }
        if (!handed.acked.is_empty() || !handed.refused.is_empty())
            && !self.buffer.handed_over(central, handed).await?
        {
            return Ok(Settled::None);
        }
        Ok(if waiting == 0 { Settled::All } else { Settled::Some })
    }
}

impl Forwarder {
    /// Tells of what was handed over, or could not be.
    fn tell(&self, steps: Vec<Option<(TraceContext, TraceContext)>>, acks: &[Ack], start: Instant) {
        for (i, step) in steps.into_iter().enumerate() {
            let Some((context, parent)) = step else { continue };
            let failed = match acks.get(i) {
                Some(Ack::Accepted | Ack::Duplicate) => None,
                Some(Ack::Refused(_)) => Some("REFUSED"),
                Some(Ack::NotNow(_)) => Some("NOT_NOW"),
                None => Some("LINK"),
            };
            self.settings.tracer.tell(Span {
                name: "forward",
                kind: SpanKind::Client,
                context,
                parent: Some(parent),
                start,
                end: Instant::now(),
                attributes: vec![],
                failed: failed.map(str::to_owned),
            });
        }
    }
}

/// The notification as it travels. The site is stamped by central from the key of the link, the instance from the
/// row, whatever the payload says.
pub(crate) fn forwarded(waiting: Waiting) -> Result<Forward, String> {
    let corrupt = |why: String| format!("{}: {why}", payload::CORRUPT_PAYLOAD);
    if let Some(why) = waiting.damaged {
        return Err(corrupt(why));
    }
    let payload: NotificationPayload = payload::read(&waiting.payload).map_err(corrupt)?;
    let trace = payload.trace;
    Ok(Forward {
        id: NotificationId(waiting.id.0),
        content: payload.known().map_err(|why| format!("UNKNOWN_TYPE: {why}"))?,
        instance: waiting.origin.instance,
        script: waiting.origin.script,
        execution: waiting.origin.execution,
        parent_execution: waiting.origin.parent_execution,
        site_enqueued_at: waiting.created_at,
        trace,
    })
}
