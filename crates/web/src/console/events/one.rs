//! One event: what it said, what became of it, and working on it once more.

use super::{communications_of, entity_type};
use crate::{
    api::{PathText, events::event_id},
    console::{
        failure::{Result, Trouble},
        flash::Flash,
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        notification::pretty,
        show::{counted, event_badge, message_badge, schedule_badge},
    },
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::events::{
    ReplayRequest, Replayed, ResendError,
    views::{MessageView, ScheduleView},
};
use domain::{EventId, EventStatus, ScheduleStatus};
use store::{directory::Role, events::Event};

#[derive(Template)]
#[template(path = "events/one.html")]
struct Page {
    frame: Frame,
    event: Event,
    payload: String,
    schedule: Option<ScheduleView>,
    /// Whether it is of the tenant that is looked at; who runs the installation sees others', too.
    here: bool,
}
framed!(Page);

impl Page {
    fn about(&self) -> String {
        communications_of(entity_type(&self.event), &self.event.entity_id)
    }

    fn can_replay_event(&self) -> bool {
        self.event.status.may_be_replayed() && self.frame.may_replay()
    }

    /// Whether a replay of the schedule could do anything.
    fn can_replay_schedule(&self) -> bool {
        let waits = |view: &ScheduleView| view.status == ScheduleStatus::Pending;
        self.here && self.frame.may_replay() && self.schedule.as_ref().is_some_and(|view| !waits(view))
    }
}

/// The event, of the tenant that is looked at; for who runs the installation of whichever has it.
async fn find(state: &Shared, signed: &Signed, id: EventId) -> Result<Event> {
    let events = &state.central.events;
    let own = events.event_by_id(Some(signed.caller.tenant), id).await;
    match own {
        Err(ResendError::NotFound(_)) if signed.caller.role == Role::Ops => {
            Ok(events.event_by_id(None, id).await?)
        }
        own => Ok(own?),
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let event = find(&state, &signed, event_id(&id)?).await?;
    let schedule = match event.tenant {
        Some(tenant) => state.central.store.schedule(tenant, event.id).await?,
        None => None,
    };
    let schedule = match schedule {
        Some(schedule) => Some(state.central.events.schedule_view(schedule).await?),
        None => None,
    };
    let title = format!("{} {}", event.event_type, event.entity_id);
    let page = Page {
        frame: Frame::new(&state, &signed, title, Nav::Events).await?.live(),
        payload: pretty(&event.payload),
        here: event.tenant == Some(signed.caller.tenant),
        event,
        schedule,
    };
    Ok(page.show(&state))
}

fn place(id: EventId) -> String {
    format!("/events/{id}")
}

/// Has an event worked on again that failed, or whose type nobody knew.
pub async fn replay_event(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let event = find(&state, &signed, event_id(&id)?).await?;
    let events = &state.central.events;
    let replayed = events
        .replay_event(event.tenant, event.id, &signed.caller.actor)
        .await;
    let flash = match replayed {
        Ok(()) => Flash::good("It is worked on again."),
        Err(ResendError::Conflict(why)) => Flash::bad(format!("Nothing was done: {why}.")),
        Err(other) => return Err(other.into()),
    };
    Ok(flash.at(&place(event.id), &state.console))
}

/// Sends what is parked round again and makes what is missing.
pub async fn replay_schedule(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    let schedule = id.parse().map_err(|_| Trouble(Problem::not_found("schedule")))?;
    let ask = ReplayRequest {
        tenant: signed.caller.tenant,
        schedule,
        new_templates: form.ticked("newTemplates"),
        actor: signed.caller.actor.clone(),
    };
    let flash = match state.central.events.replay_schedule(&ask).await {
        Ok(done) => replayed_in_words(&done),
        Err(ResendError::Conflict(why)) => Flash::bad(format!("Nothing was done: {why}.")),
        Err(other) => return Err(other.into()),
    };
    Ok(flash.at(&place(schedule), &state.console))
}

fn replayed_in_words(done: &Replayed) -> Flash {
    if let Some(why) = &done.reason {
        let again = counted(done.requeued as u64, "message", "messages");
        return Flash::good(format!(
            "{again} sent round again. What is missing was not made: {why}."
        ));
    }
    let made = |n: usize, many: &str| counted(n as u64, "message", many);
    match (done.due_again, done.requeued, done.created) {
        (true, ..) => Flash::good("The schedule is due again."),
        (false, 0, 0) => Flash::good("There was nothing to do: nothing of it is parked or missing."),
        (false, again, 0) => Flash::good(format!("{} sent round again.", made(again, "messages"))),
        (false, 0, new) => Flash::good(format!("{} made that was missing.", made(new, "messages"))),
        (false, again, new) => Flash::good(format!(
            "{} sent round again, {} made that was missing.",
            made(again, "messages"),
            made(new, "messages")
        )),
    }
}

/// The template a message was made of, in the version that was filled in.
fn template_place(view: &MessageView) -> String {
    format!(
        "/templates/{}/versions/{}",
        view.message.template, view.message.template_version
    )
}
