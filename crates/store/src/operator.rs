//! What a person may do to a notification. Each action names the state it expects; who loses a race is told.

use crate::{Result, outbox::NewNotification};
use async_trait::async_trait;
use domain::{Actor, LaneId, NotificationId, Status, TenantId};
use std::fmt::Debug;

#[async_trait]
pub trait Operator: Debug + Send + Sync {
    /// Sends parked notifications round again: a new generation, attempts from zero, due at once, in the lane
    /// given. Only recipients who failed are opened again. One answer per id, in order; each audited.
    async fn requeue(
        &self,
        tenant: TenantId,
        ids: &[(NotificationId, LaneId)],
        actor: &Actor,
    ) -> Result<Vec<Acted>>;

    /// Gives parked notifications up for good. One answer per id, in order; each audited, with the note.
    async fn discard_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> Result<Vec<Acted>>;

    /// The same without a word.
    async fn discard(&self, tenant: TenantId, ids: &[NotificationId], actor: &Actor) -> Result<Vec<Acted>> {
        self.discard_noted(tenant, ids, actor, None).await
    }

    /// Discards notifications that still wait. One that is being sent right now may still go out: its late
    /// success is added to the audit, the row stays Discarded. One answer per id, in order; each audited, with the note.
    async fn cancel_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> Result<Vec<Acted>>;

    /// The same for one, without a word.
    async fn cancel(&self, tenant: TenantId, id: NotificationId, actor: &Actor) -> Result<Acted> {
        let acted = self.cancel_noted(tenant, &[id], actor, None).await?;
        Ok(acted.first().copied().unwrap_or(Acted::NotFound))
    }

    /// Makes a waiting notification due at once, whatever it waited for; what comes of the attempt counts as usual. One
    /// that is due, or being sent, is left alone and is `Done` too. Answers with the lane it waits in. Audited.
    async fn try_now(
        &self,
        tenant: TenantId,
        id: NotificationId,
        actor: &Actor,
    ) -> Result<(Acted, Option<LaneId>)>;

    /// Takes in a repeat of a notification that has ended, which itself stays as it is, and writes on the one repeated who
    /// asked and as what; both or neither. `Refused` where the database does not take the repeat, `Conflict` when
    /// its id is known.
    async fn resend(
        &self,
        tenant: TenantId,
        id: NotificationId,
        repeat: NewNotification,
        actor: &Actor,
    ) -> Result<Acted>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    Done,
    NotFound,
    /// The row's state does not allow it.
    WrongState(Status),
}
