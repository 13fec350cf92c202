//! A world in which every page has something to show: a week of traffic, failures of every kind, sites, people.

use super::{Browser, Scripts, World, past, until};
use crate::site_agent::{AgentProcess, SiteSetup};
use client::{
    Filter, List, Notification, NotificationId, ProviderDraft, Recipient, TemplateDraft,
    events::{EventFilter, EventId, NewEvent},
};
use domain::{Clock, Status, SystemClock};
use serde_json::{Map, Value, json};
use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Phase, SmtpRule},
};
use std::time::Duration;

/// Who runs the installation.
pub const OPS: &str = "olga";

pub struct Furnished {
    // Before the world, whose folder goes with it: an agent puts files there as long as it runs.
    _agent: AgentProcess,
    _mail: SmtpServer,
    _erp: HttpReceiver,
    pub world: World,
    /// Refused by one of three recipients.
    pub parked: NotificationId,
    /// Delivered at the second attempt.
    pub delivered: NotificationId,
    /// A template with two versions.
    pub template: i64,
    /// One whose message was refused, one that nobody has said anything about.
    pub refused_event: EventId,
    pub deferred_event: EventId,
}

/// A page and what it is called.
#[derive(Debug, Clone)]
pub struct Shown {
    pub name: &'static str,
    pub path: String,
}

impl Furnished {
    pub async fn start() -> Self {
        let mail = SmtpServer::start(SmtpOptions::default()).await.unwrap();
        mail.on(SmtpRule::at(Phase::Rcpt)
            .to("gone@plant.example")
            .reply("550 5.1.1 no such mailbox here"));
        let folder = tempfile::tempdir().unwrap();
        past::live_through_a_week(&folder.path().join("waypost.db")).await;
        let world = World::start_in(folder, &[]).await;
        set_up(&world, &mail).await;
        let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
        let agent = site(&world, &erp).await;
        let parked = world
            .submit(
                Notification::to_list("crew")
                    .subject("Drill at noon")
                    .body("Meet at the gate.\nBring your badge.")
                    .body_html("<p>Meet at the <b>gate</b>.</p>")
                    .about("drill", "2026-11"),
            )
            .await;
        let delivered = wait_for_two_attempts(&world).await;
        for subject in ["Please call in", "Escalation of alarm 17"] {
            let notification = Notification::by_provider("pager").subject(subject).body("…");
            world.submit(notification).await;
        }
        let trial = Notification::by_provider("trap")
            .subject("A trial of the new rule")
            .body("Level 98 %\nin tank 7")
            .body_html("<p>Level <b>98 %</b></p>");
        let trial = world.submit(trial).await;
        world
            .submit(World::undeliverable("Text message to the guard"))
            .await;
        world.comes_to_be(trial, Status::Delivered).await;
        world.comes_to_be(parked, Status::Parked).await;
        people(&world);
        give_up_in_bulk(&world).await;
        let template = templates(&world).await;
        let [refused_event, deferred_event] = bookings(&world).await;
        until("the pager to be held", async || {
            let lanes = world.node.client.lanes().await.unwrap();
            lanes
                .iter()
                .any(|lane| lane.provider == "pager" && lane.hold.is_some())
        })
        .await;
        Self {
            world,
            parked,
            delivered,
            template,
            refused_event,
            deferred_event,
            _mail: mail,
            _erp: erp,
            _agent: agent,
        }
    }

    /// Every page of an admin, by its address.
    pub fn pages(&self) -> Vec<Shown> {
        let shown = |name, path: &str| Shown {
            name,
            path: path.to_owned(),
        };
        vec![
            shown("overview", "/?span=day"),
            shown("notifications", "/notifications"),
            shown("notifications-filtered", "/notifications?status=Parked&range=24h"),
            shown("notification", &format!("/notifications/{}", self.parked)),
            shown(
                "notification-delivered",
                &format!("/notifications/{}", self.delivered),
            ),
            shown("attempt", &format!("/notifications/{}/attempts/1", self.parked)),
            shown("sites", "/sites"),
            shown("site", "/sites/plant-north"),
            shown("audit", "/audit"),
            shown("jobs", "/jobs"),
            shown("send", "/send?list=ops"),
            shown("providers", "/providers"),
            shown("provider", "/providers/pager"),
            shown("provider-captured", "/providers/trap/captured"),
            shown("provider-kinds", "/providers/new"),
            shown("provider-form", "/providers/mail/edit"),
            shown("provider-form-webhook", "/providers/hook/edit"),
            shown("lists", "/lists"),
            shown("list", "/lists/crew"),
            shown("templates", "/templates"),
            shown("template-new", "/templates/new"),
            shown("template", &format!("/templates/{}", self.template)),
            shown(
                "template-version",
                &format!("/templates/{}/versions/2", self.template),
            ),
            shown("events", "/events"),
            shown("event", &format!("/events/{}", self.refused_event)),
            shown("event-deferred", &format!("/events/{}", self.deferred_event)),
            shown("schedules", "/schedules"),
            shown(
                "communications",
                "/communications?entityType=booking&entityId=12345",
            ),
            shown("communications-asking", "/communications"),
            shown("suppressions", "/suppressions"),
            shown("keys", "/keys"),
            shown("users", "/users"),
            shown("user", "/users/2"),
            shown("loops", "/loops"),
            shown("account", "/account"),
            shown("docs", "/docs"),
            shown("missing", "/nothing-here"),
        ]
    }

    /// Asks for a bulk action and leaves the browser at the question.
    pub async fn ask_in_bulk(&self, browser: &Browser) {
        browser.open("/notifications?status=Parked").await;
        browser.click("#all-match summary").await;
        browser.click("#retry-all").await;
        browser.shows("#confirm-yes", "Yes, retry").await;
    }

    /// Asks for a replay of all of a list and leaves the browser at the question.
    pub async fn ask_to_replay(&self, browser: &Browser, list: &str) {
        browser.open(list).await;
        browser.click("#replay-all").await;
        browser.shows("#confirm-yes", "Yes, replay").await;
    }

    pub async fn ops(&self, scripts: Scripts) -> Browser {
        self.world.signed_in_as(OPS, scripts).await
    }
}

/// Something on the list of bulk actions.
async fn give_up_in_bulk(world: &World) {
    let filter = Filter {
        keyword: Some("gate 3".into()),
        ..Filter::parked()
    };
    let client = &world.node.client;
    let reason = Some("the gate was mended by hand");
    client.act_on_all("discard", &filter, None, reason).await.unwrap();
    until("the bulk action to be done", async || {
        client.jobs().await.unwrap().iter().all(|job| job.finished)
    })
    .await;
}

async fn set_up(world: &World, mail: &SmtpServer) {
    let client = &world.node.client;
    let at = mail.address();
    let smtp = json!({
        "host": at.ip().to_string(), "port": at.port(), "tls": "none", "auth": "none",
        "from": "Waypost <waypost@plant.example>",
    });
    let hook = json!({ "url": world.hook.url("/hook"), "timeout": "10s" });
    for (id, kind, settings) in [("mail", "smtp", smtp), ("hook", "webhook", hook)] {
        client
            .replace_provider(id, &provider(id, kind, settings))
            .await
            .unwrap();
    }
    let pager =
        json!({ "url": world.hook.url("/pager"), "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" });
    client
        .create_provider(&provider("pager", "webhook", pager))
        .await
        .unwrap();
    client
        .create_provider(&provider("trap", "capture", json!({})))
        .await
        .unwrap();
    world
        .hook
        .on(HttpRule::status(401).body("token expired").path("/pager"));
    for (name, addresses) in [
        (
            "crew",
            &["dora@plant.example", "gone@plant.example", "emil@plant.example"][..],
        ),
        ("night", &[]),
    ] {
        let recipients = addresses.iter().map(|address| Recipient {
            name: None,
            address: (*address).into(),
            channel: None,
            enabled: true,
        });
        let list = List {
            name: name.into(),
            recipients: recipients.collect(),
        };
        client.create_list(&list).await.unwrap();
    }
    client.create_key("alarm server", "producer").await.unwrap();
    let old = client.create_key("old dashboard", "viewer").await.unwrap();
    client.revoke_key(old.id).await.unwrap();
}

/// Tries again after a second, so that nobody waits long.
fn provider(id: &str, kind: &str, settings: Value) -> ProviderDraft {
    let retry = json!({ "shape": "fixed", "interval": "1s", "cap": "1s", "jitter": 0.0, "maxAttempts": 50 });
    ProviderDraft {
        id: Some(id.into()),
        kind: kind.into(),
        settings: settings.as_object().cloned().unwrap(),
        retry: Some(retry),
        ..ProviderDraft::default()
    }
}

/// `plant-north` with an agent, something parked and a call that was made; `plant-south` known, never connected.
async fn site(world: &World, erp: &HttpReceiver) -> AgentProcess {
    let client = &world.node.client;
    client.register_site("plant-south").await.unwrap();
    let setup = SiteSetup {
        id: "plant-north".into(),
        folder: world.folder().into(),
        central: format!("http://{}", world.node.link),
        key: client.register_site("plant-north").await.unwrap().key,
        more: format!("[[site.system]]\nname = \"erp\"\nbase_url = {:?}\n", erp.url("/")),
    };
    erp.on(HttpRule::status(400)
        .body("order 4711 is unknown")
        .path("/orders"));
    let agent = AgentProcess::start(&setup).await;
    for path in ["/stock", "/orders"] {
        agent
            .site
            .call("erp")
            .post(path)
            .already_tried()
            .send()
            .await
            .unwrap();
    }
    until("central to know of both calls", async || {
        let calls = client.site_calls("plant-north").await.unwrap();
        calls.len() == 2 && calls.iter().all(|call| call.status.is_terminal())
    })
    .await;
    until("the site to say what is parked", async || {
        let site = client.site("plant-north").await.unwrap();
        site.report.is_some_and(|report| report.parked == 1)
    })
    .await;
    agent
}

async fn wait_for_two_attempts(world: &World) -> NotificationId {
    world
        .hook
        .on(HttpRule::status(503).body("just a moment").path("/hook").times(1));
    let notification = Notification::by_provider("hook")
        .subject("Line 1 runs again")
        .body("Since 02:14.")
        .site("plant-north");
    let id = world.submit(notification).await;
    world.comes_to_be(id, Status::Delivered).await;
    id
}

/// A confirmation by mail and by WhatsApp; the one by mail was changed once.
async fn templates(world: &World) -> i64 {
    let client = &world.node.client;
    let draft = |channel: &str, body: &str| -> TemplateDraft {
        let draft = json!({"eventType": "booking.confirmed", "channel": channel, "subject": "Booking {{bookingId}}",
            "language": "en", "to": "guest.email", "body": body});
        serde_json::from_value(draft).unwrap()
    };
    client
        .create_template(&draft("WhatsApp", "See you on {{checkinDate}}."))
        .await
        .unwrap();
    let first = draft("Email", "Dear {{guestName}},\n\nsee you on {{checkinDate}}.\n");
    let made = client.create_template(&first).await.unwrap();
    let second = TemplateDraft {
        body: "Dear {{guestName}},\n\nwe look forward to {{checkinDate}}.\n".into(),
        body_html: Some("<p>Dear <b>{{guestName}}</b></p>".into()),
        ..made.draft
    };
    client.save_template(made.id, &second).await.unwrap();
    let reason = "asked by phone";
    client
        .suppress("dora@plant.example", None, Some("marketing"), reason)
        .await
        .unwrap();
    client
        .suppress("+919876543210", Some(client::Channel::Sms), None, "")
        .await
        .unwrap();
    made.id
}

/// Bookings in every state: told, refused, due later, without data, and one of a type that there is not.
async fn bookings(world: &World) -> [EventId; 2] {
    let client = &world.node.client;
    let kind = json!({
        "dedupe": "entity", "addresses": { "Email": "guest.email" }, "language": "guest.language", "required": ["guestEmail"],
    });
    client.put_event_type("booking.confirmed", &kind).await.unwrap();
    let booking = |id: &str, email: &str| {
        let payload = json!({
            "bookingId": id, "guestName": "Asha Rao", "guestEmail": email, "guest": { "language": "en" },
            "checkinDate": "2026-03-15T00:00:00Z",
        });
        NewEvent {
            correlation_id: Some(format!("checkout-{id}")),
            ..NewEvent::new("booking.confirmed", id, payload.as_object().cloned().unwrap())
        }
    };
    let told = booking("12345", "emil@plant.example");
    let refused = booking("12346", "gone@plant.example");
    let later = NewEvent {
        due_at: Some(SystemClock.now() + Duration::from_secs(2 * 86_400)),
        ..booking("12347", "emil@plant.example")
    };
    let bare = NewEvent::new("booking.confirmed", "12348", Map::default());
    let unknown = NewEvent::new("booking.reviewed", "12345", Map::default());
    let mut ids = vec![];
    for event in [told, refused, later, bare, unknown] {
        ids.push(client.emit(&event).await.unwrap().event_id);
    }
    until("every event to be worked on", async || {
        let filter = EventFilter {
            status: Some("Pending".into()),
            ..EventFilter::default()
        };
        client.events(&filter, 10).await.unwrap().is_empty()
    })
    .await;
    until("the refused one to be parked", async || {
        let filter = EventFilter {
            status: Some("Failed".into()),
            ..EventFilter::default()
        };
        !client.schedules(&filter, 10).await.unwrap().is_empty()
    })
    .await;
    let booking = ("booking", "12345");
    client
        .resend_for_entity(booking, client::Channel::Email, None, Some("asked-by-phone"))
        .await
        .unwrap();
    [ids[1], ids[4]]
}

fn people(world: &World) {
    world.user(&["add", "bob", "--role", "operator"], "");
    world.user(&["add", OPS, "--role", "ops"], "");
}
