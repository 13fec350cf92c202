//! Events through the whole of central: outbox, templates, schedules, delivery. Each case on both databases; the list below is
//! the only place that names them, so none can be missing for one of them.

mod acceptance;
mod again;
mod bulk;
mod lookups;
mod poison;
mod replays;
mod suppressed;
mod time;

use crate::world::{TENANT, somebody};
use central::{
    Central, Settings, dispatcher::Dispatcher, providers::ProviderDraft, secrets::Sealer, templates::Saved,
};
use delivery::Registry;
use domain::{
    Channel, Clock, EventId, EventStatus, EventType, NotificationId, ScheduleStatus, Status, TenantId,
    event::Dedupe,
    template::{TemplateContent, TemplateIdentity},
};
use std::{sync::Arc, time::Duration};
use store::{
    events::{Event, NewEvent},
    query::Page,
    sources::EventSource,
    templates::{NewTemplate, Template},
};
use testkit::{Database, FarEnd, TempStore};

macro_rules! on_both_databases {
    ($($subject:ident::{ $($case:ident),* $(,)? })*) => {
        mod on_sqlite {
            $(mod $subject {
                $(#[tokio::test]
                async fn $case() {
                    super::super::$subject::$case(testkit::Database::Sqlite).await;
                })*
            })*
        }

        #[cfg(feature = "postgres-tests")]
        mod on_postgres {
            $(mod $subject {
                $(#[tokio::test]
                async fn $case() {
                    super::super::$subject::$case(testkit::Database::Postgres).await;
                })*
            })*
        }
    };
}

on_both_databases! {
    acceptance::{
        a_booking_that_is_confirmed_twice_is_written_to_once_for_each_template,
        a_message_that_keeps_failing_is_parked_and_its_schedule_failed_until_somebody_replays_it,
        tenants_never_meet,
        a_manual_resend_is_a_message_of_its_own_and_the_original_stays,
        placeholders_are_filled_and_a_missing_one_is_empty,
        a_missing_placeholder_stays_in_the_message_where_the_configuration_keeps_it,
        an_indian_number_reaches_the_provider_as_it_was_stored,
        the_log_of_a_booking_tells_what_was_sent_and_what_was_skipped_and_why,
        what_has_no_template_no_address_or_no_type_says_so_and_can_be_replayed,
        a_replay_sends_round_what_is_parked_also_where_the_rest_cannot_be_made_and_says_why,
        required_values_that_are_not_there_fail_the_event,
        a_save_warns_of_names_that_the_newest_event_of_the_type_does_not_have,
        a_save_says_of_events_from_long_ago_that_they_are_not_among_the_newest,
    }
    again::{
        an_event_and_a_schedule_are_tried_six_times_and_then_failed,
        a_replay_makes_nothing_for_an_entity_that_was_called_off,
        values_that_are_required_must_be_there_when_it_is_due,
        a_template_newer_than_the_event_is_sent_by_a_replay_only_on_request,
        a_replay_makes_nothing_that_has_expired,
        a_resend_finds_its_event_however_many_others_came_since,
        everything_that_was_skipped_is_on_some_page_of_the_log,
        an_event_of_a_source_that_is_refused_keeps_no_other_and_says_why,
    }
    bulk::{
        a_replay_of_many_events_is_about_those_that_were_counted,
        a_replay_of_many_schedules_sends_round_what_had_failed_when_it_was_counted,
        a_replay_that_was_stopped_goes_no_further,
    }
    lookups::{
        an_event_whose_first_lookup_finds_no_row_is_failed_as_missing_data,
        a_save_warns_of_names_that_neither_the_newest_event_nor_its_lookup_has,
    }
    poison::{
        a_payload_that_cannot_be_used_is_a_row_that_says_why_and_keeps_nobody,
        a_value_is_text_whatever_it_says,
        an_entity_without_a_name_or_with_one_too_long_fails_in_words,
        a_colon_in_an_entitys_id_never_meets_another_entity,
        a_time_that_no_database_holds_keeps_nobody,
    }
    replays::{
        a_replay_of_what_is_too_late_or_has_expired_says_why_it_would_come_to_nothing,
        a_repeat_says_how_the_message_stood_that_was_there_before,
        a_blank_topic_is_none,
    }
    suppressed::{
        who_asked_not_to_be_written_to_is_written_to_only_where_it_is_critical,
        a_topic_that_somebody_does_not_want_to_hear_of_is_kept_from_them_and_no_other,
    }
    time::{
        a_reminder_goes_out_the_evening_before_in_the_listings_zone,
        an_event_says_itself_when_it_is_due,
        what_comes_too_late_is_skipped_or_sent_as_its_type_says,
        what_is_no_longer_worth_sending_is_not_sent,
        a_cancelled_booking_ends_its_reminder_and_what_waits_to_be_sent,
        a_booking_confirmed_and_cancelled_in_one_batch_is_reminded_of_by_nobody,
        what_is_worked_on_after_a_later_event_called_it_off_sends_nothing,
        what_came_after_a_cancellation_that_is_worked_on_late_is_not_ended_by_it,
        a_bad_zone_or_a_missing_date_fails_in_words,
        a_template_that_was_switched_off_while_the_reminder_waited_sends_nothing,
    }
}

pub struct EventWorld {
    pub temp: TempStore,
    pub central: Central,
    pub dispatcher: Dispatcher,
    pub mail: FarEnd,
    pub sms: FarEnd,
    pub whatsapp: FarEnd,
}

/// The payload of the seed.
pub const CONFIRMED: &str = r#"{
  "bookingId": 12345, "guestId": 678, "listingId": 10, "bookingStatus": "Confirmed",
  "checkinDate": "2026-03-15T00:00:00Z", "checkoutDate": "2026-03-17T00:00:00Z",
  "guestPhone": "+919876543210", "guestEmail": "guest@example.com", "occurredAtUtc": "2026-02-26T10:00:00Z"
}"#;

pub fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A guest is written to at the addresses of the payload, once for each booking.
pub fn to_the_guest() -> EventType {
    let mut definition = EventType::new(Dedupe::Entity);
    definition.addresses = [
        (Channel::Email, "guest.email"),
        (Channel::Sms, "guestPhone"),
        (Channel::WhatsApp, "guestPhone"),
    ]
    .map(|(channel, name)| (channel, name.to_owned()))
    .into();
    definition
}

impl EventWorld {
    /// A tenant with a provider for mail, SMS and WhatsApp, and the type `booking.confirmed`.
    pub async fn new(on: Database) -> Self {
        Self::with(TempStore::open_on(on).await, |_| {}).await
    }

    pub async fn with_sources(on: Database, sources: Vec<Arc<EventSource>>) -> Self {
        Self::with(TempStore::open_on(on).await, |settings| {
            settings.events.sources = sources;
            // A sweep is asked for once and has to come to its end, however busy the machine is.
            settings.events.lookup_wait = secs(60);
        })
        .await
    }

    pub async fn with(temp: TempStore, change: impl FnOnce(&mut Settings)) -> Self {
        let mail = FarEnd::new("test-mail", Channel::Email);
        let sms = FarEnd::new("test-sms", Channel::Sms);
        let whatsapp = FarEnd::new("test-whatsapp", Channel::WhatsApp);
        let registry = Registry::new(vec![mail.kind(), sms.kind(), whatsapp.kind()]).unwrap();
        let clock: Arc<dyn Clock> = temp.clock.clone();
        let mut settings = Settings::named("node-1");
        change(&mut settings);
        let central = Central::new(temp.store.clone(), registry, Sealer::ephemeral(), clock, settings);
        let dispatcher = central.dispatcher();
        let world = Self {
            temp,
            central,
            dispatcher,
            mail,
            sms,
            whatsapp,
        };
        for kind in ["test-mail", "test-sms", "test-whatsapp"] {
            world.provider(TENANT, kind).await;
        }
        world
            .event_type(TENANT, "booking.confirmed", &to_the_guest())
            .await;
        world
    }

    pub async fn provider(&self, tenant: TenantId, kind: &str) {
        let draft = ProviderDraft {
            id: Some(kind.into()),
            kind: kind.into(),
            ..ProviderDraft::default()
        };
        self.central
            .providers
            .create(tenant, draft, &somebody())
            .await
            .unwrap();
    }

    pub async fn event_type(&self, tenant: TenantId, name: &str, definition: &EventType) {
        let put = self
            .central
            .events
            .put_type(tenant, name, definition, &somebody())
            .await;
        put.unwrap();
    }

    pub async fn template(&self, tenant: TenantId, channel: Channel, body: &str) -> Template {
        self.save(tenant, channel, body).await.template
    }

    pub async fn save(&self, tenant: TenantId, channel: Channel, body: &str) -> Saved {
        let new = NewTemplate {
            tenant,
            identity: TemplateIdentity {
                event_type: "booking.confirmed".into(),
                channel,
                name: TemplateIdentity::DEFAULT_NAME.into(),
                language: None,
                scope: None,
            },
            content: TemplateContent {
                subject: Some("Booking {{bookingId}}".into()),
                body: body.into(),
                active: true,
                ..TemplateContent::default()
            },
        };
        let saved = self.central.templates.create(&new, &somebody()).await;
        saved.unwrap()
    }

    pub async fn emit(&self, tenant: &str, entity: &str, payload: &str) -> EventId {
        self.emit_as(tenant, "booking.confirmed", entity, payload).await
    }

    pub async fn emit_as(&self, tenant: &str, event_type: &str, entity: &str, payload: &str) -> EventId {
        let event = new_event(tenant, event_type, entity, payload);
        let id = event.id;
        self.temp.store.emit(vec![event]).await.unwrap();
        id
    }

    /// Events become notifications, and these go out.
    pub async fn run(&mut self) {
        self.central.events.sweep().await.unwrap();
        self.central.events.sweep_schedules().await.unwrap();
        self.dispatcher.sweep().await.unwrap();
    }

    pub async fn event(&self, id: EventId) -> Event {
        self.temp
            .store
            .event(TENANT, id)
            .await
            .unwrap()
            .expect("the event is there")
    }

    pub async fn event_status(&self, id: EventId) -> (EventStatus, String) {
        let event = self.event(id).await;
        (event.status, event.last_error.unwrap_or_default())
    }

    pub async fn schedule(&self, id: EventId) -> central::events::views::ScheduleView {
        let schedule = self.temp.store.schedule(TENANT, id).await.unwrap();
        let schedule = schedule.expect("the event has a schedule");
        self.central.events.schedule_view(schedule).await.unwrap()
    }

    pub async fn schedule_status(&self, id: EventId) -> (ScheduleStatus, String) {
        let view = self.schedule(id).await;
        (view.status, view.schedule.last_error.unwrap_or_default())
    }

    /// Everything sent about a booking, the newest first.
    pub async fn log(&self, tenant: TenantId, booking: &str) -> Vec<store::query::Notification> {
        let page = Page {
            limit: 100,
            after: None,
        };
        let log = self
            .central
            .events
            .communications(tenant, "booking", booking, page)
            .await;
        log.unwrap().sent
    }

    pub async fn status(&self, id: NotificationId) -> Status {
        self.temp.store.get(TENANT, id).await.unwrap().unwrap().status
    }

    pub fn advance(&self, by: Duration) {
        self.temp.clock.advance(by);
    }
}

pub fn new_event(tenant: &str, event_type: &str, entity: &str, payload: &str) -> NewEvent {
    NewEvent {
        id: EventId::mint(),
        tenant: tenant.into(),
        topic: Some("booking.events".into()),
        event_type: event_type.into(),
        entity_type: None,
        entity_id: entity.into(),
        payload: payload.into(),
        schema_version: 1,
        correlation_id: Some("corr-1".into()),
        due_at: None,
        source: String::new(),
    }
}
