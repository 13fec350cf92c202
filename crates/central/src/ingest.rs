//! Takes notifications in: checks, routes, stores, wakes. What is wrong with one is `check`'s.
//!
//! Always true: when [`Ingest::submit`] answers `Accepted` or `Duplicate`, the notification is on disk. One bad
//! item never fails its neighbours.

mod check;

pub use check::ReadSubmission;

use crate::{
    changes::{Change, Changes},
    directory::Directory,
    wake::Wake,
};
use domain::{
    FieldError, LaneId, NotificationId, Status, Submission, TenantId, TraceContext, Tracer,
    settle::SUPERSEDED,
    trace::{Span, SpanKind},
};
use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
    time::Instant,
};
use store::{
    Outbox, Signals,
    outbox::{Ingested, NewNotification},
    signals::Signal,
};

#[derive(Debug, Clone)]
pub struct Ingest {
    store: Arc<dyn Outbox>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
    wake: Arc<Wake>,
    changes: Changes,
    tracer: Tracer,
}

/// The answer to one submission.
#[derive(Debug, Clone, PartialEq)]
pub enum Submitted {
    Accepted {
        id: NotificationId,
    },
    Duplicate {
        id: NotificationId,
        status: Option<Status>,
    },
    /// Nothing was stored; every field that is wrong.
    Refused(Vec<FieldError>),
}

/// Who hears what is wrong with a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// Somebody waits for the answer and can mend it.
    Sender,
    Nobody,
}

impl Ingest {
    pub fn new(
        store: Arc<dyn Outbox>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
        wake: Arc<Wake>,
        changes: Changes,
        tracer: Tracer,
    ) -> Self {
        Self {
            store,
            signals,
            directory,
            wake,
            changes,
            tracer,
        }
    }

    /// One answer per item, in order. An error means that nothing is known to be stored; sending the same items
    /// again is harmless. What was wrong with a submission as it was read is told together with what is wrong here.
    pub async fn submit(&self, batch: Vec<impl Into<ReadSubmission>>) -> store::Result<Vec<Submitted>> {
        self.take(batch, Listener::Sender).await
    }

    /// The same for what was accepted elsewhere and whose sender no longer listens. What only its provider's kind objects to
    /// is taken and parked as `VALIDATION` with the reason, where people look; a provider that is switched off is waited for.
    /// An id that is known with other content is refused: told as a duplicate, the second message would be gone.
    pub async fn submit_accepted(&self, batch: Vec<Submission>) -> store::Result<Vec<Submitted>> {
        self.take(batch, Listener::Nobody).await
    }

    async fn take(
        &self,
        batch: Vec<impl Into<ReadSubmission>>,
        listener: Listener,
    ) -> store::Result<Vec<Submitted>> {
        let start = Instant::now();
        let mut answers: Vec<Option<Submitted>> = Vec::with_capacity(batch.len());
        let mut accepted = Vec::with_capacity(batch.len());
        for submission in batch {
            match self.check(submission, listener).await? {
                Ok(new) => {
                    accepted.push(new);
                    answers.push(None);
                }
                Err(problems) => answers.push(Some(Submitted::Refused(problems))),
            }
        }
        let mut stored = self.store_all(accepted, listener, start).await?.into_iter();
        let filled = answers.into_iter().map(|answer| answer.or_else(|| stored.next()));
        Ok(filled.flatten().collect())
    }

    /// What follows once one item is on disk that did not come by [`Ingest::submit`].
    pub(crate) fn taken_in(&self, tenant: TenantId, id: NotificationId, lane: LaneId) {
        metrics::counter!("waypost_ingested_total").increment(1);
        self.tell(tenant, id);
        self.wake(BTreeSet::from([lane]));
    }

    /// The same for several.
    pub(crate) fn all_taken_in(&self, taken: Vec<(TenantId, NotificationId, LaneId)>) {
        metrics::counter!("waypost_ingested_total").increment(taken.len() as u64);
        let lanes = taken.iter().map(|(_, _, lane)| *lane).collect();
        for (tenant, id, _) in taken {
            self.tell(tenant, id);
        }
        self.wake(lanes);
    }

    /// Something may have been taken in that nobody was told of.
    pub(crate) fn look(&self) {
        self.wake.look();
    }

    fn tell(&self, tenant: TenantId, id: NotificationId) {
        if self.changes.is_watched() {
            self.changes.tell(Change {
                tenant,
                id,
                status: Status::Pending,
                code: None,
            });
        }
    }

    fn tell_superseded(&self, tenant: TenantId, ids: Vec<NotificationId>) {
        if !self.changes.is_watched() {
            return;
        }
        for id in ids {
            self.changes.tell(Change {
                tenant,
                id,
                status: Status::Discarded,
                code: Some(SUPERSEDED.to_owned()),
            });
        }
    }

    fn wake(&self, lanes: BTreeSet<LaneId>) {
        if !lanes.is_empty() {
            let lanes: Vec<_> = lanes.into_iter().collect();
            self.wake.lanes(lanes.iter().copied());
            self.signals.announce(Signal::Lanes(lanes));
        }
    }

    async fn store_all(
        &self,
        mut batch: Vec<NewNotification>,
        listener: Listener,
        start: Instant,
    ) -> store::Result<Vec<Submitted>> {
        if batch.is_empty() {
            return Ok(vec![]);
        }
        let steps = self.begin_steps(&mut batch);
        let known: Vec<_> = batch
            .iter()
            .map(|n| (n.submission.tenant, n.submission.id, n.lane))
            .collect();
        let answers = self.store.ingest(batch).await?;
        let mut lanes = BTreeSet::new();
        let mut seen = HashSet::new();
        let submitted = known
            .into_iter()
            .zip(answers)
            .map(|((tenant, id, lane), answer)| match answer {
                Ingested::Accepted => {
                    lanes.insert(lane);
                    if self.changes.is_watched() && seen.insert((tenant, id)) {
                        self.tell(tenant, id);
                    }
                    Submitted::Accepted { id }
                }
                Ingested::Replaced(others) => {
                    lanes.insert(lane);
                    self.tell(tenant, id);
                    self.tell_superseded(tenant, others);
                    Submitted::Accepted { id }
                }
                Ingested::Duplicate {
                    same_content: true,
                    status,
                } => Submitted::Duplicate { id, status },
                Ingested::Duplicate { status, .. } => reused(id, status, listener),
                Ingested::Refused(reason) => Submitted::Refused(vec![FieldError::new("body", reason)]),
            })
            .collect::<Vec<_>>();
        self.tell_steps(steps, &submitted, start);
        let count = |of: fn(&Submitted) -> bool| submitted.iter().filter(|s| of(s)).count() as u64;
        let stored = count(|s| matches!(s, Submitted::Accepted { .. }));
        let duplicates = count(|s| matches!(s, Submitted::Duplicate { .. }));
        metrics::counter!("waypost_ingested_total").increment(stored);
        metrics::counter!("waypost_ingest_duplicates_total").increment(duplicates);
        self.wake(lanes);
        Ok(submitted)
    }

    /// A step of its caller's trace for each notification, kept with it for the steps to come.
    fn begin_steps(&self, batch: &mut [NewNotification]) -> Vec<Option<SubmitSpan>> {
        let mut steps = vec![];
        for new in batch {
            let trace = &mut new.submission.trace;
            let parent = trace.take();
            if self.tracer.is_on() {
                *trace = self.tracer.below(parent);
                steps.push(trace.map(|context| SubmitSpan { context, parent }));
            }
        }
        steps
    }

    fn tell_steps(&self, steps: Vec<Option<SubmitSpan>>, submitted: &[Submitted], start: Instant) {
        for (step, submitted) in steps.into_iter().zip(submitted) {
            let Some(SubmitSpan { context, parent }) = step else {
                continue;
            };
            let (id, failed) = match submitted {
                Submitted::Accepted { id } => (id.to_string(), None),
                Submitted::Duplicate { id, .. } => (id.to_string(), Some("DUPLICATE".to_owned())),
                Submitted::Refused(_) => (String::new(), Some("REFUSED".to_owned())),
            };
            self.tracer.tell(Span {
                name: "submit",
                kind: SpanKind::Server,
                context,
                parent,
                start,
                end: Instant::now(),
                attributes: vec![("notification.id", id)],
                failed,
            });
        }
    }
}

/// The answer to an id that is known with other content.
fn reused(id: NotificationId, status: Option<Status>, listener: Listener) -> Submitted {
    tracing::warn!(
        notification.id = %id,
        "an id was sent again with different content; the first content is kept"
    );
    match listener {
        Listener::Sender => Submitted::Duplicate { id, status },
        Listener::Nobody => Submitted::Refused(vec![FieldError::new(
            "notificationId",
            "central has another notification under this id, with other content; send this one under an id of its own",
        )]),
    }
}

/// Where the handing in of one notification stands in a trace.
struct SubmitSpan {
    context: TraceContext,
    parent: Option<TraceContext>,
}
