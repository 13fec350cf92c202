//! The acceptance table of the event pipeline, row by row.

use super::{CONFIRMED, EventWorld, new_event, secs, to_the_guest};
use crate::world::{TENANT, somebody};
use central::{
    Settings,
    events::{ReplayRequest, Resend, ResendError},
};
use domain::{
    Channel, EventStatus, Failure, Outcome, ScheduleStatus, Scope, Status,
    event::CameTo,
    template::{MissingPlaceholder, TemplateContent},
};
use store::query::{Page, SCAN_BOUND};
use testkit::{Database, TempStore};

pub async fn a_booking_that_is_confirmed_twice_is_written_to_once_for_each_template(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Dear guest").await;
    world.template(TENANT, Channel::WhatsApp, "Hello").await;
    let first = world.emit("default", "12345", CONFIRMED).await;
    let second = world.emit("default", "12345", CONFIRMED).await;
    world.run().await;
    let third = world.emit("default", "12345", CONFIRMED).await;
    world.run().await;
    assert_eq!(
        (world.mail.received().len(), world.whatsapp.received().len()),
        (1, 1)
    );
    for (event, came_to) in [
        (first, CameTo::Created),
        (second, CameTo::Found),
        (third, CameTo::Found),
    ] {
        let view = world.schedule(event).await;
        assert_eq!(view.status, ScheduleStatus::Completed);
        assert!(
            view.messages.iter().all(|m| m.message.came_to == came_to),
            "{view:?}"
        );
    }
    let found = &world.schedule(third).await.messages[0].message;
    assert!(found.reason.as_deref().unwrap().starts_with("already sent as "));
    let log = world.log(TENANT, "12345").await;
    let keys: Vec<_> = log
        .iter()
        .map(|n| n.submission.idempotency_key.clone().unwrap())
        .collect();
    assert!(
        keys.contains(&"12345:booking.confirmed:WhatsApp:default".to_owned()),
        "{keys:?}"
    );
}

pub async fn a_message_that_keeps_failing_is_parked_and_its_schedule_failed_until_somebody_replays_it(
    on: Database,
) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    let event = world.emit("default", "1", CONFIRMED).await;
    let down = Failure::transient(Scope::Message, "TIMEOUT", "no answer");
    world.sms.answers(Outcome::Failed(down));
    world.run().await;
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Published);
    for _ in 0..6 {
        world.advance(secs(3 * 3600));
        world.run().await;
    }
    let tries = world.sms.received().len();
    assert_eq!(tries, 5, "five attempts, then no more");
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Failed);
    world.emit("default", "1", CONFIRMED).await;
    world.run().await;
    assert_eq!(
        world.sms.received().len(),
        tries,
        "a repeat leaves what is parked to the operator"
    );
    world.sms.accepts();
    let ask = ReplayRequest {
        tenant: TENANT,
        schedule: event,
        new_templates: false,
        actor: somebody(),
    };
    let replayed = world.central.events.replay_schedule(&ask).await.unwrap();
    assert_eq!((replayed.requeued, replayed.created), (1, 0));
    world.run().await;
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Completed);
    assert_eq!(world.sms.received().len(), tries + 1);
}

pub async fn tenants_never_meet(on: Database) {
    let mut world = EventWorld::new(on).await;
    let other = world
        .temp
        .store
        .create_tenant("other", &somebody())
        .await
        .unwrap()
        .id;
    world.provider(other, "test-mail").await;
    world
        .event_type(other, "booking.confirmed", &to_the_guest())
        .await;
    world.template(TENANT, Channel::Email, "from default").await;
    world.template(other, Channel::Email, "from other").await;
    world.emit("default", "7", CONFIRMED).await;
    world.emit("other", "7", CONFIRMED).await;
    let nobody = world.emit("nobody", "7", CONFIRMED).await;
    world.run().await;
    let mut bodies: Vec<_> = world
        .mail
        .received()
        .into_iter()
        .map(|m| m.content.body)
        .collect();
    bodies.sort();
    assert_eq!(bodies, ["from default", "from other"]);
    for (tenant, body) in [(TENANT, "from default"), (other, "from other")] {
        let log = world.log(tenant, "7").await;
        assert_eq!(log.len(), 1);
        assert_eq!(log[0].submission.content.body, body);
    }
    let seen = world.temp.store.events_by_id(nobody, 10).await.unwrap();
    assert_eq!(
        (seen[0].status, seen[0].last_error.as_deref()),
        (EventStatus::Failed, Some("Unknown tenant"))
    );
}

pub async fn a_manual_resend_is_a_message_of_its_own_and_the_original_stays(on: Database) {
    let mut world = EventWorld::new(on).await;
    let template = world
        .template(TENANT, Channel::WhatsApp, "Hello {{guestPhone}}")
        .await;
    world.emit("default", "12345", CONFIRMED).await;
    world.run().await;
    let original = world.log(TENANT, "12345").await.remove(0);
    let ask = Resend {
        tenant: TENANT,
        entity_type: "booking".into(),
        entity_id: "12345".into(),
        channel: Channel::WhatsApp,
        template: None,
        request: "r-1".into(),
        actor: somebody(),
    };
    world.advance(secs(60));
    for _ in 0..2 {
        world.central.events.resend(&ask).await.unwrap();
        world.run().await;
    }
    assert_eq!(
        world.whatsapp.received().len(),
        2,
        "asked twice under one request it is sent once"
    );
    let log = world.log(TENANT, "12345").await;
    assert_eq!(log.len(), 2);
    let manual = &log[0].submission;
    assert_eq!(
        manual.idempotency_key.as_deref(),
        Some("manual:12345:WhatsApp:default:r-1")
    );
    assert_eq!(manual.submitted_by, somebody());
    assert_eq!(log[1], original);
    let named = Resend {
        template: Some(template.id),
        request: "r-2".into(),
        ..ask.clone()
    };
    let resent = world.central.events.resend(&named).await.unwrap();
    assert_eq!(resent.submitted.len(), 1);
    let off = TemplateContent {
        active: false,
        ..template.content.clone()
    };
    let templates = &world.central.templates;
    let (id, version) = (template.id, template.version);
    templates
        .save(TENANT, id, version, &off, &somebody())
        .await
        .unwrap();
    let Err(ResendError::Conflict(why)) = world.central.events.resend(&named).await else {
        panic!("it was switched off");
    };
    assert!(why.contains("inactive; to send it, save it as active"), "{why}");
    let mail = Resend {
        channel: Channel::Email,
        ..ask
    };
    assert!(matches!(
        world.central.events.resend(&mail).await,
        Err(ResendError::NotFound(_))
    ));
}

pub async fn placeholders_are_filled_and_a_missing_one_is_empty(on: Database) {
    let mut world = EventWorld::new(on).await;
    let body = "{{GuestPhone}}|{{guest.phone}}|{{checkinDate}}|{{nobody}}|{{bookingId}}";
    world.template(TENANT, Channel::Email, body).await;
    let event = world.emit("default", "12345", CONFIRMED).await;
    world.run().await;
    let message = world.mail.received().remove(0);
    assert_eq!(
        message.content.body,
        "+919876543210|+919876543210|15-Mar-2026||12345"
    );
    assert_eq!(message.content.subject, "Booking 12345");
    let listed = world.schedule(event).await.messages.remove(0).message;
    let reason = "{{nobody}} has no value";
    assert_eq!(
        listed.reason.as_deref(),
        Some(reason),
        "it is seen without the log"
    );
}

pub async fn a_missing_placeholder_stays_in_the_message_where_the_configuration_keeps_it(on: Database) {
    let temp = TempStore::open_on(on).await;
    let keep = |settings: &mut Settings| settings.missing_placeholder = MissingPlaceholder::Keep;
    let mut world = EventWorld::with(temp, keep).await;
    world
        .template(TENANT, Channel::Email, "{{bookingId}}|{{nobody}}")
        .await;
    let event = world.emit("default", "12345", CONFIRMED).await;
    world.run().await;
    assert_eq!(world.mail.received()[0].content.body, "12345|{{nobody}}");
    let listed = world.schedule(event).await.messages.remove(0).message;
    assert_eq!(listed.reason.as_deref(), Some("{{nobody}} has no value"));
}

pub async fn an_indian_number_reaches_the_provider_as_it_was_stored(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    world.template(TENANT, Channel::WhatsApp, "Hello").await;
    world.emit("default", "12345", CONFIRMED).await;
    world.run().await;
    for far_end in [&world.sms, &world.whatsapp] {
        assert_eq!(far_end.received()[0].targets, ["+919876543210"]);
    }
}

pub async fn the_log_of_a_booking_tells_what_was_sent_and_what_was_skipped_and_why(on: Database) {
    let mut world = EventWorld::new(on).await;
    let mail = world.template(TENANT, Channel::Email, "Hello").await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    let payload = r#"{"guestEmail": "guest@example.com", "guestPhone": "98765"}"#;
    let event = world.emit("default", "5", payload).await;
    world.run().await;
    let page = Page {
        limit: 10,
        after: None,
    };
    let log = world
        .central
        .events
        .communications(TENANT, "booking", "5", page)
        .await
        .unwrap();
    let sent = &log.sent[0];
    assert_eq!(sent.status, Status::Delivered);
    let origin = sent.submission.content.event.as_ref().unwrap();
    assert_eq!(
        (
            origin.event_id,
            origin.template_version,
            origin.correlation_id.as_deref()
        ),
        (event, 1, Some("corr-1"))
    );
    assert_eq!(origin.template, mail.id.to_string());
    let (_, skipped) = &log.skipped[0];
    assert_eq!(
        (skipped.channel, skipped.came_to),
        (Channel::Sms, CameTo::Skipped)
    );
    assert!(
        skipped.reason.as_deref().unwrap().starts_with("No recipient"),
        "{skipped:?}"
    );
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Completed);
}

pub async fn what_has_no_template_no_address_or_no_type_says_so_and_can_be_replayed(on: Database) {
    let mut world = EventWorld::new(on).await;
    let no_template = world.emit("default", "1", CONFIRMED).await;
    world.run().await;
    assert_eq!(
        world.schedule_status(no_template).await,
        (ScheduleStatus::Failed, "Template not found".into())
    );
    world.template(TENANT, Channel::Email, "Hello").await;
    let no_address = world.emit("default", "2", "{}").await;
    let no_type = world.emit_as("default", "booking.moved", "3", "{}").await;
    world.run().await;
    assert_eq!(
        world.schedule_status(no_address).await,
        (ScheduleStatus::Failed, "No recipient".into())
    );
    assert_eq!(world.event_status(no_type).await.0, EventStatus::Deferred);
    assert!(world.mail.received().is_empty());
    let ask = ReplayRequest {
        tenant: TENANT,
        schedule: no_template,
        new_templates: false,
        actor: somebody(),
    };
    assert!(
        world
            .central
            .events
            .replay_schedule(&ask)
            .await
            .unwrap()
            .due_again
    );
    world.run().await;
    assert_eq!(world.mail.received().len(), 1);
    assert_eq!(
        world.schedule_status(no_template).await.0,
        ScheduleStatus::Completed
    );
    world.event_type(TENANT, "booking.moved", &to_the_guest()).await;
    world.run().await;
    assert_eq!(
        world.event_status(no_type).await.0,
        EventStatus::Deferred,
        "nothing by itself"
    );
    world
        .central
        .events
        .replay_event(Some(TENANT), no_type, &somebody())
        .await
        .unwrap();
    world.run().await;
    assert_eq!(world.event_status(no_type).await.0, EventStatus::Published);
    let again = world
        .central
        .events
        .replay_event(Some(TENANT), no_type, &somebody())
        .await;
    assert!(matches!(again, Err(ResendError::Conflict(_))));
}

pub async fn a_replay_sends_round_what_is_parked_also_where_the_rest_cannot_be_made_and_says_why(
    on: Database,
) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    world.template(TENANT, Channel::Sms, "Hello").await;
    let payload = r#"{"guestEmail": "g@example.com", "guestPhone": "12"}"#;
    let event = world.emit("default", "1", payload).await;
    let refused = Failure::permanent(Scope::Message, "REFUSED", "no such mailbox");
    world.mail.answers(Outcome::Failed(refused));
    world.run().await;
    let sms = async |world: &EventWorld| {
        let messages = world.schedule(event).await.messages;
        let sms = messages.into_iter().find(|m| m.message.channel == Channel::Sms);
        let message = sms.unwrap().message;
        (message.came_to, message.reason.unwrap())
    };
    let (came_to, why) = sms(&world).await;
    assert_eq!(came_to, CameTo::Skipped);
    assert!(why.starts_with("No recipient: the address"), "{why}");
    let ask = ReplayRequest {
        tenant: TENANT,
        schedule: event,
        new_templates: false,
        actor: somebody(),
    };
    world.mail.accepts();
    let (name, by) = ("booking.confirmed", somebody());
    world.central.events.delete_type(TENANT, name, &by).await.unwrap();
    let done = world.central.events.replay_schedule(&ask).await.unwrap();
    assert_eq!((done.requeued, done.created), (1, 0));
    assert!(done.reason.unwrap().contains("no event type"));
    world.run().await;
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Completed);
    // The address is asked for elsewhere now, where there is none.
    let mut elsewhere = to_the_guest();
    elsewhere.addresses.insert(Channel::Sms, "mobile".into());
    world.event_type(TENANT, name, &elsewhere).await;
    let done = world.central.events.replay_schedule(&ask).await.unwrap();
    assert_eq!((done.requeued, done.created, done.reason), (0, 0, None));
    assert_eq!(
        sms(&world).await,
        (CameTo::Skipped, "No recipient".to_owned()),
        "as it is now"
    );
    assert_eq!(world.mail.received().len(), 2);
}

pub async fn required_values_that_are_not_there_fail_the_event(on: Database) {
    let mut world = EventWorld::new(on).await;
    let mut definition = to_the_guest();
    definition.required = vec!["guestEmail".into(), "listing.id".into()];
    world.event_type(TENANT, "booking.confirmed", &definition).await;
    let event = world.emit("default", "1", r#"{"listingId": " "}"#).await;
    world.run().await;
    assert_eq!(
        world.event_status(event).await,
        (EventStatus::Failed, "Missing data: guestEmail, listing.id".into())
    );
}

pub async fn a_save_warns_of_names_that_the_newest_event_of_the_type_does_not_have(on: Database) {
    let world = EventWorld::new(on).await;
    let saved = world.save(TENANT, Channel::Email, "Dear {{guestName}}").await;
    let unchecked = "no event of this type has come yet, so nobody could check {{bookingId}}, {{guestName}}";
    assert_eq!(saved.warnings, [unchecked]);
    world
        .emit(
            "default",
            "12345",
            r#"{"bookingId": 1, "guest": {"name": "Asha"}}"#,
        )
        .await;
    let saved = world
        .save(
            TENANT,
            Channel::Sms,
            "Dear {{guestNam}}, {{GuestName}}, {{guest.name}}",
        )
        .await;
    let expected = "{{guestNam}} is not known; is {{guest.name}} meant?";
    assert_eq!(saved.warnings, [expected]);
}

pub async fn a_save_says_of_events_from_long_ago_that_they_are_not_among_the_newest(on: Database) {
    let world = EventWorld::new(on).await;
    world.emit("default", "1", CONFIRMED).await;
    let others = (0..SCAN_BOUND).map(|_| new_event("default", "booking.moved", "1", "{}"));
    world.temp.store.emit(others.collect()).await.unwrap();
    let saved = world.save(TENANT, Channel::Email, "Dear guest").await;
    let unchecked = "no event of this type is among the newest ones, so nobody could check {{bookingId}}";
    assert_eq!(saved.warnings, [unchecked]);
}
