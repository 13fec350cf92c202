//! Events: what applications handed in, what it became and when, and what one entity was told.
//!
//! Leaves to others: what a replay or a resend does (`central::events`), one message's own story
//! ([`super::notification`]).

pub mod communications;
mod csv;
pub mod one;
pub mod outbox;
pub mod replay;
pub mod resend;
pub mod schedules;

use super::filter::Query;
use domain::event;

/// The pages about events: place and name.
const TABS: [(&str, &str); 3] = [
    ("/events", "Outbox"),
    ("/schedules", "Schedules"),
    ("/communications", "Communications"),
];

/// The page of everything sent about an entity.
pub fn communications_of(entity_type: &str, entity_id: &str) -> String {
    let mut query = Query::default();
    query.add("entityType", Some(entity_type));
    query.add("entityId", Some(entity_id));
    format!("/communications?{}", query.0)
}

/// What an event is about, as it says itself or as its name says.
fn entity_type(event: &store::events::Event) -> &str {
    let named = event.entity_type.as_deref();
    named.unwrap_or_else(|| event::entity_type(&event.event_type))
}

/// The address of the next page of a list.
fn older(place: &str, query: &str, next: store::query::Cursor) -> String {
    let and = if query.is_empty() { "" } else { "&" };
    format!("{place}?{query}{and}cursor={}", crate::paging::print_cursor(next))
}
