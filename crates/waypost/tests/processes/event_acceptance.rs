//! The acceptance table of the event pipeline, row by row and on both databases: from the outbox through central and the
//! providers' own kinds to services that are played over real sockets.

use central::{
    Central, Settings,
    dispatcher::Dispatcher,
    events::{ReplayRequest, Resend},
    providers::ProviderDraft,
    secrets::Sealer,
};
use delivery::{Captured, Outside, Registry};
use domain::{
    Actor, Channel, Clock, EventId, EventType, ScheduleStatus, Status, TenantId,
    event::{Dedupe, ScheduledMessage},
    template::{ProviderTemplate, TemplateContent, TemplateIdentity},
};
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver, SmtpOptions, SmtpServer, http::HttpRule};
use std::{sync::Arc, time::Duration};
use store::{
    events::{Event, NewEvent},
    query::{Notification, Page},
    sources::EventSource,
    templates::NewTemplate,
};
use testkit::{Database, TempStore};

pub const TENANT: TenantId = TenantId::DEFAULT;
const CONFIRMED: &str = "booking.confirmed";
/// The payload of the table.
const PAYLOAD: &str = r#"{
  "bookingId": 12345, "guestId": 678, "listingId": 10, "bookingStatus": "Confirmed",
  "checkinDate": "2026-03-15T00:00:00Z", "checkoutDate": "2026-03-17T00:00:00Z",
  "guestPhone": "+919876543210", "guestEmail": "guest@example.com"
}"#;

macro_rules! on_both_databases {
    ($($case:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $case() {
                super::$case(super::World::new(testkit::Database::Sqlite).await).await;
            })*
        }

        #[cfg(feature = "postgres-tests")]
        mod on_postgres {
            $(#[tokio::test]
            async fn $case() {
                super::$case(super::World::new(testkit::Database::Postgres).await).await;
            })*
        }
    };
}

on_both_databases! {
    a_booking_confirmed_twice_is_one_request_for_each_template,
    a_service_that_keeps_failing_is_asked_five_times_and_no_more_until_somebody_replays,
    tenants_never_meet,
    a_manual_resend_is_logged_beside_the_original,
    placeholders_are_filled_in_and_a_missing_one_is_empty,
    an_indian_number_reaches_the_services_as_it_was_stored,
}

pub struct World {
    pub temp: TempStore,
    pub central: Central,
    dispatcher: Dispatcher,
    pub mail: SmtpServer,
    services: HttpReceiver,
}

fn admin() -> Actor {
    Actor::new("user:admin")
}

impl World {
    /// A tenant with the three services of the table, and the type `booking.confirmed`.
    async fn new(on: Database) -> Self {
        Self::over(TempStore::open_on(on).await, vec![]).await
    }

    pub async fn over(temp: TempStore, sources: Vec<Arc<EventSource>>) -> Self {
        // A sweep is asked for once and has to come to its end, however busy the machine is.
        Self::waiting(temp, sources, Duration::from_secs(60)).await
    }

    /// So long for a lookup.
    pub async fn waiting(temp: TempStore, sources: Vec<Arc<EventSource>>, lookup_wait: Duration) -> Self {
        let clock: Arc<dyn Clock> = temp.clock.clone();
        let loopback = vec!["127.0.0.0/8".parse().unwrap()];
        let outside = Outside::new(clock.clone()).allowing(loopback);
        let registry = Registry::standard(Arc::new(outside), Captured::default());
        let mut settings = Settings::named("one");
        settings.events.sources = sources;
        settings.events.lookup_wait = lookup_wait;
        let central = Central::new(temp.store.clone(), registry, Sealer::ephemeral(), clock, settings);
        let world = Self {
            dispatcher: central.dispatcher(),
            central,
            temp,
            mail: SmtpServer::start(SmtpOptions::default()).await.unwrap(),
            services: HttpReceiver::start(HttpOptions::default()).await.unwrap(),
        };
        world.set_up(TENANT, "stay@example.com").await;
        world
    }

    async fn set_up(&self, tenant: TenantId, from: &str) {
        let mail = json!({
            "host": "127.0.0.1", "port": self.mail.address().port(), "tls": "none", "auth": "none", "from": from,
        });
        let interakt = json!({ "apiUrl": self.services.url("/interakt"), "apiKey": "ZGVtbzpkZW1vLWRlbW8=" });
        let msg91 = json!({
            "apiUrl": self.services.url("/msg91"), "authkey": "123456AbCdEfGhIjKlMn", "sender": "RENTAL",
        });
        for (kind, settings) in [("smtp", mail), ("interakt", interakt), ("msg91", msg91)] {
            let draft = ProviderDraft {
                id: Some(kind.into()),
                kind: kind.into(),
                settings: settings.as_object().cloned().unwrap(),
                ..ProviderDraft::default()
            };
            let created = self.central.providers.create(tenant, draft, &admin()).await;
            created.unwrap();
        }
        let mut definition = EventType::new(Dedupe::Entity);
        definition.addresses = [
            (Channel::Email, "guest.email"),
            (Channel::Sms, "guestPhone"),
            (Channel::WhatsApp, "guestPhone"),
        ]
        .map(|(channel, name)| (channel, name.to_owned()))
        .into();
        let put = self
            .central
            .events
            .put_type(tenant, CONFIRMED, &definition, &admin())
            .await;
        put.unwrap();
    }

    /// Creates or replaces what is said about a type of event.
    pub async fn event_type(&self, name: &str, definition: &EventType) {
        let put = self
            .central
            .events
            .put_type(TENANT, name, definition, &admin())
            .await;
        put.unwrap();
    }

    pub async fn event(&self, id: EventId) -> Event {
        self.temp.store.event(TENANT, id).await.unwrap().unwrap()
    }

    /// A template of the channel; for the services, one that they have approved, with these parameters.
    pub async fn template(&self, tenant: TenantId, channel: Channel, body: &str, params: &[&str]) {
        let approved = (channel != Channel::Email).then(|| ProviderTemplate {
            name: "booking_confirmed".into(),
            language: Some("en".into()),
            params: params.iter().map(|p| (*p).to_owned()).collect(),
            dlt_id: None,
        });
        let new = NewTemplate {
            tenant,
            identity: TemplateIdentity {
                event_type: CONFIRMED.into(),
                channel,
                name: TemplateIdentity::DEFAULT_NAME.into(),
                language: None,
                scope: None,
            },
            content: TemplateContent {
                subject: Some("Booking {{bookingId}}".into()),
                body: body.into(),
                provider_template: approved,
                active: true,
                ..TemplateContent::default()
            },
        };
        self.central.templates.create(&new, &admin()).await.unwrap();
    }

    pub async fn confirm(&self, tenant: &str, booking: &str) -> EventId {
        self.emit(CONFIRMED, tenant, booking).await
    }

    pub async fn emit(&self, event_type: &str, tenant: &str, booking: &str) -> EventId {
        let event = NewEvent {
            id: EventId::mint(),
            tenant: tenant.into(),
            topic: Some("booking.events".into()),
            event_type: event_type.into(),
            entity_type: None,
            entity_id: booking.into(),
            payload: PAYLOAD.into(),
            schema_version: 1,
            correlation_id: Some("corr-1".into()),
            due_at: None,
            source: String::new(),
        };
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

    /// What a service was asked for, oldest first.
    fn asked(&self, service: &str) -> Vec<Value> {
        let below = format!("/{service}/");
        let requests = self.services.requests();
        let ours = requests.iter().filter(|r| r.path.starts_with(&below));
        ours.map(|r| serde_json::from_slice(&r.body).unwrap()).collect()
    }

    async fn log(&self, tenant: TenantId, booking: &str) -> Vec<Notification> {
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

    pub async fn schedule(&self, event: EventId) -> (ScheduleStatus, Vec<ScheduledMessage>) {
        let schedule = self.temp.store.schedule(TENANT, event).await.unwrap().unwrap();
        let view = self.central.events.schedule_view(schedule).await.unwrap();
        let messages = view.messages.into_iter().map(|m| m.message);
        (view.status, messages.collect())
    }
}

fn keys(log: &[Notification]) -> Vec<&str> {
    let mut keys: Vec<_> = log
        .iter()
        .map(|n| n.submission.idempotency_key.as_deref().unwrap())
        .collect();
    keys.sort();
    keys
}

async fn a_booking_confirmed_twice_is_one_request_for_each_template(mut world: World) {
    for channel in [Channel::Email, Channel::WhatsApp, Channel::Sms] {
        world.template(TENANT, channel, "Hello", &["bookingId"]).await;
    }
    let first = world.confirm("default", "12345").await;
    let second = world.confirm("default", "12345").await;
    world.run().await;
    let third = world.confirm("default", "12345").await;
    world.run().await;
    assert_eq!(world.mail.counts().mails, 1);
    assert_eq!(
        (world.asked("interakt").len(), world.asked("msg91").len()),
        (1, 1)
    );
    for event in [first, second, third] {
        let (status, messages) = world.schedule(event).await;
        assert_eq!((status, messages.len()), (ScheduleStatus::Completed, 3));
    }
    let (_, repeats) = world.schedule(third).await;
    let found = |m: &ScheduledMessage| {
        m.reason
            .as_deref()
            .is_some_and(|r| r.starts_with("already sent as "))
    };
    assert!(repeats.iter().all(found), "{repeats:?}");
    let log = world.log(TENANT, "12345").await;
    let expected = ["Email", "Sms", "WhatsApp"].map(|c| format!("12345:booking.confirmed:{c}:default"));
    assert_eq!(keys(&log), expected);
}

async fn a_service_that_keeps_failing_is_asked_five_times_and_no_more_until_somebody_replays(
    mut world: World,
) {
    world
        .template(TENANT, Channel::Sms, "Hello", &["bookingId"])
        .await;
    world
        .services
        .on(HttpRule::status(503).path("/msg91/api/v5/flow/"));
    let event = world.confirm("default", "1").await;
    world.run().await;
    let log = world.log(TENANT, "1").await;
    assert_eq!((log[0].status, log[0].retry_count), (Status::Retrying, 1));
    assert!(
        log[0]
            .next_attempt_at
            .is_some_and(|at| at > world.temp.clock.now())
    );
    for _ in 0..8 {
        world.temp.clock.advance(Duration::from_secs(3 * 3600));
        world.run().await;
    }
    assert_eq!(world.asked("msg91").len(), 5, "five attempts, then no more");
    let log = world.log(TENANT, "1").await;
    assert_eq!((log[0].status, log[0].retry_count), (Status::Parked, 5));
    assert_eq!(world.schedule(event).await.0, ScheduleStatus::Failed);
    world.confirm("default", "1").await;
    world.run().await;
    assert_eq!(
        world.asked("msg91").len(),
        5,
        "a repeat leaves what is parked alone"
    );
    world.services.behave();
    let ask = ReplayRequest {
        tenant: TENANT,
        schedule: event,
        new_templates: false,
        actor: admin(),
    };
    let replayed = world.central.events.replay_schedule(&ask).await.unwrap();
    assert_eq!((replayed.requeued, replayed.created), (1, 0));
    world.run().await;
    assert_eq!(world.schedule(event).await.0, ScheduleStatus::Completed);
    assert_eq!(world.asked("msg91").len(), 6);
}

async fn tenants_never_meet(mut world: World) {
    let other = world
        .temp
        .store
        .create_tenant("other", &admin())
        .await
        .unwrap()
        .id;
    world.set_up(other, "other@example.com").await;
    world
        .template(TENANT, Channel::Email, "from the first", &[])
        .await;
    world.template(other, Channel::Email, "from the other", &[]).await;
    for tenant in ["default", "other", "nobody"] {
        world.confirm(tenant, "7").await;
    }
    world.run().await;
    let mails = world.mail.mails();
    let mut sent: Vec<_> = mails
        .iter()
        .map(|m| {
            (
                m.header("From").unwrap_or_default(),
                m.plain_text().trim().to_owned(),
            )
        })
        .collect();
    sent.sort();
    let expected = [
        ("<other@example.com>", "from the other"),
        ("<stay@example.com>", "from the first"),
    ];
    assert_eq!(
        sent,
        expected.map(|(from, said)| (from.to_owned(), said.to_owned()))
    );
    for (tenant, body) in [(TENANT, "from the first"), (other, "from the other")] {
        let log = world.log(tenant, "7").await;
        assert_eq!(log.len(), 1);
        assert_eq!(log[0].submission.content.body, body);
    }
}

async fn a_manual_resend_is_logged_beside_the_original(mut world: World) {
    world
        .template(TENANT, Channel::WhatsApp, "Hello", &["bookingId"])
        .await;
    world.confirm("default", "12345").await;
    world.run().await;
    let original = world.log(TENANT, "12345").await.remove(0);
    world.temp.clock.advance(Duration::from_secs(60));
    let ask = Resend {
        tenant: TENANT,
        entity_type: "booking".into(),
        entity_id: "12345".into(),
        channel: Channel::WhatsApp,
        template: None,
        request: "r-1".into(),
        actor: admin(),
    };
    world.central.events.resend(&ask).await.unwrap();
    world.run().await;
    assert_eq!(world.asked("interakt").len(), 2);
    let log = world.log(TENANT, "12345").await;
    let expected = [
        "12345:booking.confirmed:WhatsApp:default",
        "manual:12345:WhatsApp:default:r-1",
    ];
    assert_eq!(keys(&log), expected);
    assert_eq!(log[0].submission.submitted_by, admin());
    assert_eq!(log[1], original, "what was sent before stays as it is");
}

async fn placeholders_are_filled_in_and_a_missing_one_is_empty(mut world: World) {
    let body = "{{guestPhone}}|{{guest.phone}}|{{checkinDate}}|{{nobody}}|{{bookingId}}";
    world.template(TENANT, Channel::Email, body, &[]).await;
    let params = ["guestPhone", "{{checkinDate}}", "bookingId"];
    world.template(TENANT, Channel::WhatsApp, "", &params).await;
    world.confirm("default", "12345").await;
    world.run().await;
    let mail = &world.mail.mails()[0];
    assert_eq!(mail.subject(), "Booking 12345");
    assert_eq!(
        mail.plain_text().trim(),
        "+919876543210|+919876543210|15-Mar-2026||12345"
    );
    let filled = &world.asked("interakt")[0]["template"]["bodyValues"];
    assert_eq!(*filled, json!(["+919876543210", "15-Mar-2026", "12345"]));
}

async fn an_indian_number_reaches_the_services_as_it_was_stored(mut world: World) {
    world
        .template(TENANT, Channel::Sms, "Hello", &["bookingId"])
        .await;
    world
        .template(TENANT, Channel::WhatsApp, "Hello", &["bookingId"])
        .await;
    world.confirm("default", "12345").await;
    world.run().await;
    // Each service spells a number in its own way; none of its digits is lost or added.
    let whatsapp = &world.asked("interakt")[0];
    let (code, number) = (whatsapp["countryCode"].as_str(), whatsapp["phoneNumber"].as_str());
    assert_eq!((code, number), (Some("+91"), Some("9876543210")));
    assert_eq!(
        world.asked("msg91")[0]["recipients"][0]["mobiles"],
        "919876543210"
    );
    for notification in world.log(TENANT, "12345").await {
        assert_eq!(notification.status, Status::Delivered);
        assert_eq!(notification.resolved_targets, ["+919876543210"]);
    }
}
