//! Events, what follows from them, and what became of them.

use super::PAGING;
use crate::{
    access::Access::{Administer, Read, Replay, Submit, Tenants},
    api::{events, replays, schedules},
    dto::{
        communication::{CommunicationLog, EntityResendRequest, ResendEntityAnswer},
        event::{EventAnswer, EventRequest, EventView},
        event_type::{EventTypeRequest, EventTypeView},
        job::{DryRunAnswer, JobView},
        replay::{EventReplayRequest, ScheduleReplayRequest},
        schedule::{AutomationSchedule, ReplayAnswer, ReplayBody},
    },
    endpoint::{Endpoint, Param, delete, get, post, put},
    problem::Code::Conflict,
};

const ENTITY: [Param; 3] = [
    ("bookingId", "means entityType=booking and entityId=this"),
    ("entityType", "what sort of thing, together with entityId"),
    ("entityId", "which one"),
];

const EVENTS: [Param; 5] = [
    ("status", "Pending, Published, Failed or Deferred"),
    ("eventType", "the name of the event"),
    ("entityId", "what it happened to"),
    ("from", "created at or after this time"),
    ("to", "created before this time"),
];

const TENANT: [Param; 1] = [("tenantId", "only of this tenant: its name or number")];

pub(super) fn routes() -> Vec<Endpoint> {
    let parts = [telling(), following(), across_tenants()];
    parts.into_iter().flatten().collect()
}

fn telling() -> Vec<Endpoint> {
    vec![
        post(
            "/api/events",
            Submit,
            "Tell that something happened",
            events::emit,
        )
        .body::<EventRequest>()
        .answers::<EventAnswer>(202, "It is stored"),
        get("/api/events", Read, "Events, newest first", events::list)
            .params(&EVENTS)
            .params(&PAGING)
            .pages::<EventView>("A page"),
        get(
            "/api/events/{id}",
            Read,
            "One event with its payload",
            events::get,
        )
        .answers::<EventView>(200, "The event"),
        post(
            "/api/events/{id}/replay",
            Replay,
            "Have an event worked on again that is Failed or Deferred",
            events::replay,
        )
        .empty("It is due")
        .refuses(&[Conflict]),
        post(
            "/api/events/replay",
            Replay,
            "Have all events of a filter worked on again that are Failed or Deferred",
            replays::events,
        )
        .body::<EventReplayRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        get("/api/event-types", Read, "Types of events", events::types)
            .params(&PAGING)
            .pages::<EventTypeView>("A page"),
        get(
            "/api/event-types/{name}",
            Read,
            "One type of event",
            events::get_type,
        )
        .answers::<EventTypeView>(200, "What is said about it"),
        put(
            "/api/event-types/{name}",
            Administer,
            "Say what follows from events of a name",
            events::put_type,
        )
        .body::<EventTypeRequest>()
        .answers::<EventTypeView>(200, "What is said about it"),
        delete(
            "/api/event-types/{name}",
            Administer,
            "Forget a type of event; new events of it are deferred",
            events::delete_type,
        )
        .empty("It is gone"),
    ]
}

fn following() -> Vec<Endpoint> {
    vec![
        get(
            "/api/automation-schedules",
            Read,
            "What events became, newest first",
            schedules::list,
        )
        .params(&ENTITY)
        .params(&[("status", "Pending, Published, Completed, Failed or Cancelled")])
        .params(&PAGING)
        .pages::<AutomationSchedule>("A page"),
        post(
            "/api/automation-schedules/{id}/replay",
            Replay,
            "Requeue what is parked of a schedule and create what is missing",
            schedules::replay,
        )
        .optional_body::<ReplayBody>()
        .answers::<ReplayAnswer>(200, "What was done")
        .refuses(&[Conflict]),
        post(
            "/api/automation-schedules/replay",
            Replay,
            "Replay all schedules of a filter",
            replays::schedules,
        )
        .body::<ScheduleReplayRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        get(
            "/api/communication-logs",
            Read,
            "Everything sent about one entity, and what was not",
            schedules::communications,
        )
        .params(&ENTITY)
        .params(&PAGING)
        .pages::<CommunicationLog>("A page"),
        post(
            "/api/bookings/{id}/resend-notification",
            Administer,
            "Send a booking's message once more",
            schedules::resend_booking,
        )
        .body::<EntityResendRequest>()
        .answers::<ResendEntityAnswer>(202, "New notifications; what was sent before stays")
        .refuses(&[Conflict]),
        post(
            "/api/entities/{type}/{id}/resend-notification",
            Administer,
            "Send an entity's message once more",
            schedules::resend_entity,
        )
        .body::<EntityResendRequest>()
        .answers::<ResendEntityAnswer>(202, "New notifications; what was sent before stays")
        .refuses(&[Conflict]),
    ]
}

fn across_tenants() -> Vec<Endpoint> {
    vec![
        get(
            "/ops/outbox",
            Tenants,
            "Events of all tenants, also of those there are not",
            schedules::outbox,
        )
        .params(&TENANT)
        .params(&EVENTS)
        .params(&PAGING)
        .pages::<EventView>("A page"),
        post(
            "/ops/outbox/{id}/replay",
            Tenants,
            "Have a Failed or Deferred event worked on again",
            schedules::replay_event,
        )
        .params(&TENANT)
        .empty("It is due")
        .refuses(&[Conflict]),
        post(
            "/ops/outbox/replay",
            Tenants,
            "Have all events of a filter worked on again, of all tenants or of one",
            replays::outbox,
        )
        .params(&TENANT)
        .body::<EventReplayRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        post(
            "/ops/schedules/{id}/replay",
            Tenants,
            "Requeue what is parked of a schedule and create what is missing",
            schedules::replay_for_ops,
        )
        .params(&TENANT)
        .optional_body::<ReplayBody>()
        .answers::<ReplayAnswer>(200, "What was done")
        .refuses(&[Conflict]),
    ]
}
