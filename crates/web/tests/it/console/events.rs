//! Events on the console: what is shown, to whom, and what its forms do.

use super::visitor::{Visitor, location};
use crate::world::{OTHER, World};
use domain::TenantId;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use store::{
    directory::Role,
    sources::{EventSource, SourceSettings, SourceTenants},
};
use testkit::eventually;

/// Bookings are confirmed by mail, and by SMS where there is a phone.
async fn bookings() -> World {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let kind = json!({"dedupe": "entity", "addresses": {"Email": "guest.email", "Sms": "guestPhone"}});
    let path = "/api/event-types/booking.confirmed";
    world.ask("PUT", path, &admin, Some(kind)).await.expect(200);
    for (channel, body) in [("Email", "Dear {{guestName}}"), ("Sms", "See you")] {
        let template = json!({"eventType": "booking.confirmed", "channel": channel, "subject": "Booking {{bookingId}}", "body": body});
        world.post("/api/message-templates", template).await.expect(201);
    }
    world
}

async fn emit(world: &World, event: Value) -> String {
    let answer = world.post("/api/events", event).await.expect(202);
    world.central.events.sweep().await.unwrap();
    answer["eventId"].as_str().unwrap().to_owned()
}

fn confirmed(entity: &str) -> Value {
    json!({"eventType": "booking.confirmed", "entityId": entity, "correlationId": "corr-7",
        "payload": {"bookingId": entity, "guestName": "<b>Asha</b>", "guestEmail": "asha@example.com"}})
}

async fn visitor(world: &World, role: Role) -> Visitor {
    Visitor::new(world, TenantId::DEFAULT, role).await
}

const ENTITY: &str = "/communications?entityType=booking&entityId=12345";

#[tokio::test]
async fn one_event_shows_its_payload_its_messages_and_what_was_skipped_and_leads_to_each_and_back() {
    let mut world = bookings().await;
    let event = emit(&world, confirmed("12345")).await;
    world.dispatcher.sweep().await.unwrap();
    let mut viewer = visitor(&world, Role::Viewer).await;
    let page = viewer.get(&format!("/events/{event}")).await.text;
    for wanted in [
        "data-status=\"Published\"",
        "&#60;b&#62;Asha",
        "corr-7",
        "Skipped",
        "Delivered",
        "version 1",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(!page.contains("<b>Asha"), "{page}");
    assert!(
        page.contains("/communications?entityType=booking&#38;entityId=12345"),
        "{page}"
    );
    let notification = page.split("href=\"/notifications/").nth(1).unwrap();
    let notification = notification.split('"').next().unwrap();
    let page = viewer.get(&format!("/notifications/{notification}")).await.text;
    assert!(page.contains(&format!("href=\"/events/{event}\"")), "{page}");
    assert!(
        page.contains("/communications?entityType=booking&#38;entityId=12345"),
        "{page}"
    );
}

#[tokio::test]
async fn an_entitys_page_says_what_was_sent_where_by_what_and_what_was_not_and_why() {
    let mut world = bookings().await;
    emit(&world, confirmed("12345")).await;
    world.dispatcher.sweep().await.unwrap();
    let page = visitor(&world, Role::Viewer).await.get(ENTITY).await.text;
    for wanted in [
        "a•••@example.com",
        "default, version 1",
        "corr-7",
        "Skipped",
        "system",
        "href=\"/providers/mail\"",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(!page.contains("asha@example.com"), "addresses are masked");
    assert!(!page.contains("id=\"resend\""), "a viewer may only look");
    let file = visitor(&world, Role::Viewer)
        .await
        .get("/communications.csv?entityType=booking&entityId=12345")
        .await;
    let lines: Vec<_> = file.text.lines().collect();
    assert_eq!((file.status.as_u16(), lines.len()), (200, 3), "{}", file.text);
    assert!(
        lines[0].starts_with("createdAt,status,type,eventType"),
        "{}",
        lines[0]
    );
    assert!(!file.text.contains("asha@example.com"));
}

#[tokio::test]
async fn a_resend_is_one_new_message_however_often_the_button_is_pressed() {
    let mut world = bookings().await;
    emit(&world, confirmed("12345")).await;
    world.dispatcher.sweep().await.unwrap();
    let mut admin = visitor(&world, Role::Admin).await;
    let page = admin.get(ENTITY).await.text;
    let request = page.split("name=\"request\" value=\"").nth(1).unwrap();
    let request = request.split('"').next().unwrap().to_owned();
    let fields = [
        ("entityType", "booking"),
        ("entityId", "12345"),
        ("what", "Email"),
        ("request", &request),
    ];
    let said = [
        "1 message is sent once more",
        "Nothing more was sent: 1 message was sent for this request before",
    ];
    let mut page = String::new();
    for said in said {
        let sent = admin.post("/communications/resend", &fields).await;
        assert_eq!((sent.status.as_u16(), location(&sent)), (303, ENTITY));
        page = admin.get(ENTITY).await.text;
        assert!(page.contains(said), "{said}: {page}");
    }
    assert_eq!(world.rows().await, 2, "the original and one repeat");
    assert!(page.contains("user:admin-"), "who asked is shown: {page}");
    let nobody = [("entityType", "booking"), ("entityId", "999"), ("what", "Email")];
    admin.post("/communications/resend", &nobody).await;
    let page = admin.get(ENTITY).await.text;
    assert!(page.contains("Nothing was sent"), "{page}");
    assert_eq!(world.rows().await, 2);
}

#[tokio::test]
async fn a_deferred_event_says_what_to_do_and_goes_out_when_it_is_replayed() {
    let mut world = World::new().await;
    let event = emit(
        &world,
        json!({"eventType": "alarm.raised", "entityId": "7", "payload": {"to": "ops@example.com"}}),
    )
    .await;
    let mut operator = visitor(&world, Role::Operator).await;
    let page = operator.get(&format!("/events/{event}")).await.text;
    assert!(page.contains("waypost event types put alarm.raised"), "{page}");
    let kind = json!({"dedupe": "event", "addresses": {"Email": "to"}});
    let admin = world.key(Role::Admin);
    world
        .ask("PUT", "/api/event-types/alarm.raised", &admin, Some(kind))
        .await
        .expect(200);
    let template =
        json!({"eventType": "alarm.raised", "channel": "Email", "subject": "Alarm", "body": "Look"});
    world.post("/api/message-templates", template).await.expect(201);
    let answer = operator.post(&format!("/events/{event}/replay"), &[]).await;
    assert_eq!(location(&answer), format!("/events/{event}"));
    world.central.events.sweep().await.unwrap();
    world.dispatcher.sweep().await.unwrap();
    let page = operator.get(&format!("/events/{event}")).await.text;
    assert!(
        page.contains("It is worked on again") && page.contains("data-status=\"Published\""),
        "{page}"
    );
    operator.post(&format!("/events/{event}/replay"), &[]).await;
    let page = operator.get(&format!("/events/{event}")).await.text;
    assert!(
        page.contains("Nothing was done: the event is Published"),
        "{page}"
    );
}

#[tokio::test]
async fn a_replay_of_a_schedule_makes_what_was_skipped_once_there_is_a_way() {
    let world = bookings().await;
    let event = emit(
        &world,
        json!({"eventType": "booking.confirmed", "entityId": "5", "payload": {"bookingId": 5}}),
    )
    .await;
    let mut operator = visitor(&world, Role::Operator).await;
    let page = operator.get("/schedules?status=Failed").await.text;
    assert!(
        page.contains(&format!("data-schedule=\"{event}\"")) && page.contains("No recipient"),
        "{page}"
    );
    assert!(
        !operator
            .get("/schedules?status=Pending")
            .await
            .text
            .contains(&event)
    );
    operator
        .post(&format!("/events/{event}/schedule/replay"), &[])
        .await;
    let page = operator.get(&format!("/events/{event}")).await.text;
    assert!(page.contains("The schedule is due again"), "{page}");
}

#[tokio::test]
async fn filters_of_the_outbox_hold_in_the_list_and_in_the_file_and_a_wrong_one_is_refused_in_words() {
    let world = bookings().await;
    let known = emit(&world, confirmed("12345")).await;
    let unknown = emit(&world, json!({"eventType": "unheard.of", "entityId": "9"})).await;
    let mut viewer = visitor(&world, Role::Viewer).await;
    for (query, wanted, absent) in [
        ("status=Deferred", &unknown, &known),
        ("eventType=booking.confirmed", &known, &unknown),
        ("entityId=9&range=1h", &unknown, &known),
    ] {
        for path in ["/events", "/events.csv"] {
            let page = viewer.get(&format!("{path}?{query}")).await.text;
            assert!(
                page.contains(wanted) && !page.contains(absent),
                "{path}?{query}: {page}"
            );
        }
    }
    for (query, named) in [
        ("status=Lost", "Lost"),
        ("range=2w", "range"),
        ("sort=up", "sort"),
        ("everywhere=true", "ops"),
    ] {
        let page = viewer.get(&format!("/events?{query}")).await;
        assert_eq!(page.status, 422, "{query}");
        assert!(page.text.contains(named), "{query}: {}", page.text);
    }
}

#[tokio::test]
async fn a_template_is_previewed_with_a_past_event_of_its_type_and_of_no_other_tenant() {
    let world = bookings().await;
    let event = emit(&world, confirmed("12345")).await;
    let listed = world
        .get("/api/message-templates?channel=Email")
        .await
        .expect(200);
    let template = listed["items"][0]["id"].to_string();
    let template = template.trim_matches('"');
    let mut admin = visitor(&world, Role::Admin).await;
    let page = admin.get(&format!("/templates/{template}")).await.text;
    assert!(page.contains(&format!("<option value=\"{event}\"")), "{page}");
    let fields = [
        ("eventType", "booking.confirmed"),
        ("channel", "Email"),
        ("body", "Booking {{bookingId}} of {{guestName}}"),
        ("payload", "{\"bookingId\": \"typed\"}"),
        ("event", &event),
    ];
    let shown = admin.post("/templates/preview", &fields).await.text;
    assert!(shown.contains("Booking 12345 of &#60;b&#62;Asha"), "{shown}");
    let other = world.temp.store.tenant_by_name(OTHER).await.unwrap().unwrap().id;
    let shown = Visitor::new(&world, other, Role::Admin)
        .await
        .post("/templates/preview", &fields)
        .await
        .text;
    assert!(
        shown.contains("Booking typed") && !shown.contains("Asha"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_preview_with_a_past_event_has_what_the_lookup_says_now() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    std::fs::write(&file, "").unwrap();
    let settings = SourceSettings {
        name: "shop".into(),
        url: format!("sqlite://{}", file.display()),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: false,
        keep: Duration::from_secs(3600),
        lookups: [(
            "guest".into(),
            "select 'Meera of ' || :entity as guest_name".into(),
        )]
        .into(),
    };
    let source = Arc::new(EventSource::new(settings).unwrap());
    let world = World::with_sources(vec![source]).await;
    let admin = world.key(Role::Admin);
    let kind = json!({"dedupe": "entity", "lookup": "guest", "addresses": {"Email": "guestEmail"}});
    let path = "/api/event-types/booking.confirmed";
    world.ask("PUT", path, &admin, Some(kind)).await.expect(200);
    let event = emit(&world, confirmed("12345")).await;
    let fields = [
        ("eventType", "booking.confirmed"),
        ("channel", "Email"),
        ("body", "Booking {{bookingId}} of {{guestName}}"),
        ("event", &event),
    ];
    let mut admin = visitor(&world, Role::Admin).await;
    let shown = admin.post("/templates/preview", &fields).await.text;
    assert!(shown.contains("Booking 12345 of Meera of 12345"), "{shown}");
    std::fs::remove_file(&file).unwrap();
    let shown = admin.post("/templates/preview", &fields).await.text;
    assert!(
        shown.contains("event source shop") && shown.contains("why-not"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_lookup_serves_the_tenants_of_its_source_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    std::fs::write(&file, "").unwrap();
    let of = |name: &str, tenant: &str, query: &str| {
        let settings = SourceSettings {
            name: name.into(),
            url: format!("sqlite://{}", file.display()),
            lookup_url: None,
            tenants: SourceTenants::Map([("42".to_owned(), tenant.to_owned())].into()),
            has_outbox: false,
            keep: Duration::from_secs(3600),
            lookups: [("guest".to_owned(), query.to_owned())].into(),
        };
        Arc::new(EventSource::new(settings).unwrap())
    };
    let secret = of("shop", "default", "select 'secret' as guestName");
    let world = World::with_sources(vec![secret]).await;
    let path = "/api/event-types/booking.confirmed";
    let kind = json!({"dedupe": "entity", "lookup": "guest", "addresses": {"Email": "guestEmail"}});
    let others = world.key_of(OTHER, Role::Admin);
    let refused = world.ask("PUT", path, &others, Some(kind.clone())).await;
    assert_eq!(refused.bad_fields(), ["lookup"]);
    let own = world.key(Role::Admin);
    world.ask("PUT", path, &own, Some(kind.clone())).await.expect(200);
    // The other tenant's type is older than this configuration.
    let other = world.temp.store.tenant_by_name(OTHER).await.unwrap().unwrap().id;
    let named = world
        .temp
        .store
        .event_type(TenantId::DEFAULT, "booking.confirmed")
        .await;
    let definition = named.unwrap().unwrap().definition;
    let actor = domain::Actor::system();
    let put = world
        .temp
        .store
        .put_event_type(other, "booking.confirmed", &definition, &actor);
    put.await.unwrap();
    let event = world
        .ask("POST", "/api/events", &others, Some(confirmed("12345")))
        .await
        .expect(202);
    world.central.events.sweep().await.unwrap();
    let path = format!("/api/events/{}", event["eventId"].as_str().unwrap());
    let stands = world.ask("GET", &path, &others, None).await.expect(200);
    assert_eq!(
        (&stands["status"], &stands["attempts"]),
        (&json!("Pending"), &json!(0))
    );
    let why = stands["lastError"].as_str().unwrap();
    assert!(why.contains("no lookup \"guest\" for this tenant"), "{why}");
    let each = [
        of("shop", "default", "select 'ours' as guestName"),
        of("other", OTHER, "select 'theirs' as guestName"),
    ];
    let world = World::with_sources(each.into()).await;
    for (tenant, name) in [("default", "ours"), (OTHER, "theirs")] {
        let admin = world.key_of(tenant, Role::Admin);
        let path = "/api/event-types/booking.confirmed";
        world
            .ask("PUT", path, &admin, Some(kind.clone()))
            .await
            .expect(200);
        let event = world
            .ask("POST", "/api/events", &admin, Some(confirmed("1")))
            .await
            .expect(202);
        let preview = json!({"eventType": "booking.confirmed", "channel": "Email", "subject": "x",
            "body": "{{guestName}}", "eventId": event["eventId"]});
        let path = "/api/message-templates/preview";
        let shown = world.ask("POST", path, &admin, Some(preview)).await.expect(200);
        assert_eq!(shown["body"], name);
    }
}

#[tokio::test]
async fn all_that_failed_is_replayed_by_a_job_that_is_about_what_was_counted() {
    let world = bookings().await;
    let alarm =
        |n: &str| json!({"eventType": "alarm.raised", "entityId": n, "payload": {"to": "ops@example.com"}});
    let deferred = emit(&world, alarm("1")).await;
    let failed = emit(
        &world,
        json!({"eventType": "booking.confirmed", "entityId": "5", "payload": {}}),
    )
    .await;
    let mut viewer = visitor(&world, Role::Viewer).await;
    assert!(!viewer.get("/events").await.text.contains("replay-all"));
    let mut operator = visitor(&world, Role::Operator).await;
    for (path, query, question) in [
        ("/events", "eventType=alarm.raised", "Replay 1 event?"),
        ("/schedules", "status=Failed", "Replay 1 schedule?"),
    ] {
        let page = operator.get(&format!("{path}?{query}")).await.text;
        assert!(page.contains("replay-all"), "{page}");
        let asked = operator
            .get_form(&format!("{path}/replay"), &[("query", query)])
            .await
            .text;
        assert!(asked.contains(question), "{asked}");
        let hidden = |name: &str| {
            let from = asked.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
            from.split('"').next().unwrap().to_owned()
        };
        world.temp.clock.advance(Duration::from_secs(1));
        if path == "/events" {
            emit(&world, alarm("later")).await;
        }
        let (as_of, count) = (hidden("asOf"), hidden("count"));
        let fields = [
            ("query", query),
            ("asOf", as_of.as_str()),
            ("count", count.as_str()),
        ];
        let answer = operator.post(&format!("{path}/replay/go"), &fields).await;
        let job = location(&answer).to_owned();
        world.central.jobs.sweep().await.unwrap();
        let page = eventually("the job to end", async || {
            let page = operator.get(&job).await.text;
            page.contains("data-finished=\"true\"").then_some(page)
        })
        .await;
        assert!(
            page.contains("Replay in bulk") && page.contains("worked on again"),
            "{page}"
        );
        assert!(page.contains("<span id=\"job-done\">1</span>"), "{page}");
    }
    let status = async |id: &str| {
        let id = id.parse().unwrap();
        world
            .temp
            .store
            .event(TenantId::DEFAULT, id)
            .await
            .unwrap()
            .unwrap()
            .status
    };
    assert_eq!(status(&deferred).await.as_str(), "Pending");
    assert_eq!(status(&failed).await.as_str(), "Published");
    let schedule = world
        .temp
        .store
        .schedule(TenantId::DEFAULT, failed.parse().unwrap())
        .await;
    assert_eq!(
        schedule.unwrap().unwrap().status.as_str(),
        "Pending",
        "due again as a whole"
    );
}

#[tokio::test]
async fn what_cannot_be_replayed_begins_no_job() {
    let world = bookings().await;
    let mut operator = visitor(&world, Role::Operator).await;
    let nothing = operator
        .get_form("/events/replay", &[("query", "entityId=nobody")])
        .await;
    assert_eq!(location(&nothing), "/events?entityId=nobody");
    let wrong = operator
        .get_form("/events/replay", &[("query", "status=Published")])
        .await;
    assert_eq!(wrong.status, 422);
}

#[tokio::test]
async fn who_runs_the_installation_stops_a_replay_of_many_and_no_job_of_others_about_messages() {
    let world = bookings().await;
    let event = emit(
        &world,
        json!({"eventType": "booking.confirmed", "entityId": "5", "payload": {}}),
    )
    .await;
    let admin = world.key(Role::Admin);
    let mut ops = visitor(&world, Role::Ops).await;
    let mut viewer = visitor(&world, Role::Viewer).await;
    for (path, may) in [
        ("/api/automation-schedules/replay", true),
        ("/api/notifications/discard", false),
    ] {
        let job = world
            .ask("POST", path, &admin, Some(json!({"filter": {}})))
            .await
            .expect(202);
        let page = format!("/jobs/{}", job["id"].as_str().unwrap());
        assert_eq!(ops.get(&page).await.text.contains("id=\"stop\""), may, "{path}");
        assert!(!viewer.get(&page).await.text.contains("id=\"stop\""), "{path}");
        let stopped = ops.post(&format!("{page}/stop"), &[]).await;
        assert_eq!(stopped.status.as_u16(), if may { 303 } else { 403 }, "{path}");
    }
    world.central.jobs.sweep().await.unwrap();
    let file = viewer.get("/schedules.csv").await.text;
    assert!(
        file.contains(&event) && file.contains("Email default: No recipient; Sms default: No recipient"),
        "what is missing is in the file, too: {file}"
    );
}

#[tokio::test]
async fn an_event_is_seen_by_its_own_tenant_and_by_who_runs_the_installation() {
    let world = bookings().await;
    let event = emit(&world, confirmed("our-secret-12345")).await;
    let other = world.temp.store.tenant_by_name(OTHER).await.unwrap().unwrap().id;
    let mut stranger = Visitor::new(&world, other, Role::Admin).await;
    assert_eq!(stranger.get(&format!("/events/{event}")).await.status, 404);
    for action in ["replay", "schedule/replay"] {
        let answer = stranger.post(&format!("/events/{event}/{action}"), &[]).await;
        assert_eq!(answer.status, 404, "{action}");
    }
    for path in [
        "/events",
        "/events.csv",
        "/schedules",
        "/communications?entityType=booking&entityId=our-secret-12345",
    ] {
        let page = stranger.get(path).await.text;
        assert!(!page.contains(&event), "{path}");
    }
    let mut ops = Visitor::new(&world, other, Role::Ops).await;
    assert!(!ops.get("/events").await.text.contains("our-secret-12345"));
    assert!(
        ops.get("/events?everywhere=true")
            .await
            .text
            .contains("our-secret-12345")
    );
    let page = ops.get(&format!("/events/{event}")).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("id=\"elsewhere\""), "{}", page.text);
    assert!(
        !page.text.contains("href=\"/communications?entityType"),
        "links would lead into the wrong tenant"
    );
}
