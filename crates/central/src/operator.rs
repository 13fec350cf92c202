//! What people do to notifications: send round again, give up, call off, repeat. One by one here; over a filter
//! as a job in [`crate::jobs`].

use crate::{
    changes::{Change, Changes},
    directory::{Directory, Route},
    ingest::{Ingest, Listener},
    wake::Wake,
};
use domain::{Actor, Content, LaneId, NotificationId, Status, Submission, TenantId, Timestamp};
use std::{collections::BTreeSet, sync::Arc};
use store::{Operator, Queries, Signals, operator::Acted, signals::Signal};

#[derive(Debug, Clone)]
pub struct OperatorService {
    store: Arc<dyn Operator>,
    queries: Arc<dyn Queries>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
    ingest: Ingest,
    wake: Arc<Wake>,
    changes: Changes,
}

/// What is different about a repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeat {
    /// The same key again makes no second repeat; none: one of its own.
    pub key: Option<String>,
    /// Not after; the old end does not count any more.
    pub expires_at: Option<Timestamp>,
}

/// The answer to a request for a repeat.
#[derive(Debug, Clone, PartialEq)]
pub enum Resent {
    /// A new notification with the same content.
    As(NotificationId),
    NotFound,
    /// Only what has ended can be repeated; what still waits goes out by itself.
    WrongState(Status),
    /// The content is no longer acceptable (its provider is gone), and why.
    Refused(Vec<domain::FieldError>),
}

impl OperatorService {
    pub fn new(
        store: Arc<dyn Operator>,
        queries: Arc<dyn Queries>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
        ingest: Ingest,
        wake: Arc<Wake>,
        changes: Changes,
    ) -> Self {
        Self {
            store,
            queries,
            signals,
            directory,
            ingest,
            wake,
            changes,
        }
    }

    /// Sends parked notifications round again, routed anew. One answer per id, in order.
    pub async fn requeue(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
    ) -> store::Result<Vec<Acted>> {
        let mut routed = Vec::with_capacity(ids.len());
        for id in ids {
            routed.push((*id, self.lane_now(tenant, *id).await?));
        }
        let asked: Vec<_> = routed
            .iter()
            .filter_map(|(id, lane)| lane.map(|lane| (*id, lane)))
            .collect();
        let mut acted = self.store.requeue(tenant, &asked, actor).await?.into_iter();
        let answers: Vec<_> = routed
            .iter()
            .map(|(_, lane)| match lane {
                Some(_) => acted.next().unwrap_or(Acted::NotFound),
                None => Acted::NotFound,
            })
            .collect();
        let lanes: BTreeSet<LaneId> = routed
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| **answer == Acted::Done)
            .filter_map(|((_, lane), _)| *lane)
            .collect();
        if !lanes.is_empty() {
            let lanes: Vec<_> = lanes.into_iter().collect();
            self.wake.lanes(lanes.iter().copied());
            self.signals.announce(Signal::Lanes(lanes));
        }
        self.tell(tenant, ids, &answers, Status::Pending);
        Ok(answers)
    }

    /// Where the notification would go if it came in now; its old lane when its provider is gone.
    async fn lane_now(&self, tenant: TenantId, id: NotificationId) -> store::Result<Option<LaneId>> {
        let Some(found) = self.queries.get(tenant, id).await? else {
            return Ok(None);
        };
        let content = found.submission.content;
        let channel = content.channel();
        match self
            .directory
            .route(tenant, content.provider.as_ref(), Some(channel))
            .await?
        {
            Route::Lane { lane, .. } => Ok(Some(lane)),
            Route::UnknownProvider | Route::OtherChannel { .. } => {
                Ok(Some(self.directory.unrouted_lane(tenant, channel).await?))
            }
        }
    }

    /// Gives parked notifications up. One answer per id, in order.
    pub async fn discard(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
    ) -> store::Result<Vec<Acted>> {
        self.discard_noted(tenant, ids, actor, None).await
    }

    /// The same, with what whoever does it has to say.
    pub async fn discard_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> store::Result<Vec<Acted>> {
        let answers = self.store.discard_noted(tenant, ids, actor, note).await?;
        self.tell(tenant, ids, &answers, Status::Discarded);
        Ok(answers)
    }

    /// Calls off a notification that still waits.
    pub async fn cancel(&self, tenant: TenantId, id: NotificationId, actor: &Actor) -> store::Result<Acted> {
        let acted = self.cancel_noted(tenant, &[id], actor, None).await?;
        Ok(acted.first().copied().unwrap_or(Acted::NotFound))
    }

    /// The same for several, with what whoever does it has to say. One answer per id, in order.
    pub async fn cancel_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> store::Result<Vec<Acted>> {
        let answers = self.store.cancel_noted(tenant, ids, actor, note).await?;
        self.tell(tenant, ids, &answers, Status::Discarded);
        Ok(answers)
    }

    /// Has a waiting notification tried at once, as far as its lane goes: one that is held stays held.
    pub async fn try_now(&self, tenant: TenantId, id: NotificationId, actor: &Actor) -> store::Result<Acted> {
        let (acted, lane) = self.store.try_now(tenant, id, actor).await?;
        if let Some(lane) = lane {
            self.wake.lanes([lane]);
            self.signals.announce(Signal::Lanes(vec![lane]));
        }
        Ok(acted)
    }

    /// Sends what has ended once more, to everybody, as a new notification under a key of its own. The one repeated stays as
    /// it is and tells who asked.
    pub async fn resend(
        &self,
        tenant: TenantId,
        id: NotificationId,
        how: Repeat,
        actor: &Actor,
    ) -> store::Result<Resent> {
        let Some(found) = self.queries.get(tenant, id).await? else {
            return Ok(Resent::NotFound);
        };
        if !found.status.is_terminal() {
            return Ok(Resent::WrongState(found.status));
        }
        let key = how
            .key
            .unwrap_or_else(|| format!("manual:{id}:{}", uuid::Uuid::now_v7()));
        let submission = Submission {
            id: NotificationId::from_key(tenant, &key),
            idempotency_key: Some(key),
            submitted_by: actor.clone(),
            site_enqueued_at: None,
            content: Content {
                send_at: None,
                expires_at: how.expires_at,
                supersedes_key: None,
                ..found.submission.content
            },
            resend_of: Some(id),
            trace: None,
            ..found.submission
        };
        let repeat = match self.ingest.check(submission, Listener::Sender).await? {
            Ok(repeat) => repeat,
            Err(problems) => return Ok(Resent::Refused(problems)),
        };
        let (new, lane) = (repeat.submission.id, repeat.lane);
        Ok(match self.store.resend(tenant, id, repeat, actor).await? {
            Acted::Done => {
                self.ingest.taken_in(tenant, new, lane);
                Resent::As(new)
            }
            Acted::NotFound => Resent::NotFound,
            Acted::WrongState(found) => Resent::WrongState(found),
        })
    }

    fn tell(&self, tenant: TenantId, ids: &[NotificationId], answers: &[Acted], status: Status) {
        if !self.changes.is_watched() {
            return;
        }
        for (id, answer) in ids.iter().zip(answers) {
            if *answer == Acted::Done {
                self.changes.tell(Change {
                    tenant,
                    id: *id,
                    status,
                    code: None,
                });
            }
        }
    }
}
