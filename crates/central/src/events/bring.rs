//! Events of a source into central's outbox.
//!
//! Always true: one that the store refuses keeps no other from coming. It is there as a row that says why, under its id, so that
//! its source can be marked as well.

use super::EventService;
use domain::{EventStatus, chain, event::limit};
use store::{
    events::{EventEnd, NewEvent, SettleEvent},
    signals::Signal,
};

/// The longest name of a tenant that is kept of an event that was refused.
const KEPT_TENANT: usize = 300;
/// So many tenants may have an event of one id, where the refused one is looked for.
const SAME_ID: u32 = 100;

impl EventService {
    /// Puts them into the outbox. When this returns, each of them survives a crash, or stands there as one that was refused.
    pub async fn bring(&self, batch: Vec<NewEvent>) -> store::Result<()> {
        let mut parts = vec![batch];
        while let Some(mut part) = parts.pop() {
            let error = match self.store.emit(part.clone()).await {
                Ok(_) => continue,
                Err(error) if error.may_pass() => return Err(error),
                Err(error) => error,
            };
            match part.len() {
                0 => {}
                1 => self.set_apart(part.remove(0), &error).await?,
                several => {
                    let right = part.split_off(several / 2);
                    parts.extend([right, part]);
                }
            }
        }
        self.wake();
        self.signals.announce(Signal::Events);
        Ok(())
    }

    /// As much of an event as can be kept, Failed. Its payload is none, so that nothing is sent should somebody look before that.
    pub(super) async fn set_apart(
        &self,
        refused: NewEvent,
        why: &(dyn std::error::Error + Send + Sync + 'static),
    ) -> store::Result<()> {
        let cut = |text: &str, longest: usize| text.chars().take(longest).collect::<String>();
        let kept = NewEvent {
            id: refused.id,
            tenant: cut(&refused.tenant, KEPT_TENANT),
            topic: None,
            event_type: cut(&refused.event_type, limit::EVENT_TYPE),
            entity_type: None,
            entity_id: cut(&refused.entity_id, limit::ENTITY),
            payload: String::new(),
            schema_version: 1,
            correlation_id: None,
            due_at: None,
            source: refused.source,
        };
        let tenant = kept.tenant.clone();
        self.store.emit(vec![kept]).await?;
        let found = self.store.events_by_id(refused.id, SAME_ID).await?;
        let row = found
            .into_iter()
            .find(|event| event.tenant_name == tenant && event.status == EventStatus::Pending);
        let Some(row) = row else { return Ok(()) };
        tracing::warn!(event.id = %row.id, error = why as &(dyn std::error::Error + 'static), "an event of a source was refused");
        let settle = SettleEvent {
            seq: row.seq,
            to: EventEnd::Failed,
            error: chain(why),
        };
        self.store.settle_events(vec![settle]).await?;
        self.signals.announce(Signal::Events);
        Ok(())
    }
}
