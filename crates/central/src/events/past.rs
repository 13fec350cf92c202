//! What an event that came would fill a template with.

use super::{EventService, asking::Asker, lookup::Waits, plan::Unknown, resend::ResendError};
use domain::{EventId, TenantId, template::Payload};

impl EventService {
    /// The values that messages of this event would have now: its payload, and what its lookup adds. Without an event type, or
    /// where its entity is gone, the payload alone.
    pub async fn values(&self, tenant: TenantId, id: EventId) -> Result<Payload, ResendError> {
        let event = self.event_by_id(Some(tenant), id).await?;
        self.directory.refresh().await?;
        let now = self.queries.now().await?;
        match self.know(&event, Asker::Event, now, Waits::ToTheEnd).await? {
            Ok(known) => Ok(known.values),
            Err(Unknown::Deferred(_) | Unknown::Gone) => {
                let payload = Payload::read(&event.payload);
                payload.map_err(|why| ResendError::Conflict(why.to_string()))
            }
            Err(unknown) => Err(ResendError::Conflict(unknown.in_words())),
        }
    }
}
