//! Receipts, from the callback to what becomes of the notification and of its lane.

use crate::world::*;
use central::{
    Settings,
    providers::CallbackProblem,
    receipts::{CallbackError, Incoming, Taken},
};
use delivery::receipt::{CallbackRefused, HeaderMap, Method, ReceiptsBy};
use domain::{
    Accepted, AuditKind, Channel, HoldReason, NotificationId, Outcome, ProviderId, ReceiptState,
    RecipientState, Status, suppression::SuppressionSource,
};
use serde_json::{Value, json};
use store::{directory::Provider, outbox::NewNotification};
use testkit::{
    FarEnd, Reply,
    far_end::{AboutReceipts, CALLBACK_SIGNATURE},
    fixtures::a_notification,
    until,
};
use tokio_util::sync::CancellationToken;

const PUBLIC_URL: &str = "https://waypost.example/";

fn settings() -> Settings {
    Settings {
        public_url: Some(PUBLIC_URL.into()),
        ..Settings::named("node-1")
    }
}

async fn world() -> World {
    World::with(settings()).await
}

/// Makes an address for the mail provider; the provider, and the path below the public address.
async fn callback(world: &World) -> (Provider, String) {
    callback_of(world, "mail").await
}

async fn callback_of(world: &World, provider: &str) -> (Provider, String) {
    let id = ProviderId::new(provider);
    let made = world
        .central
        .providers
        .new_callback(TENANT, &id, &somebody())
        .await
        .unwrap();
    assert_eq!(made.told_by, ReceiptsBy::ItsSettings);
    let path = made
        .url
        .strip_prefix("https://waypost.example")
        .unwrap()
        .to_owned();
    let secret = path.rsplit('/').next().unwrap();
    let found = world.central.receipts.provider(provider, secret).await.unwrap();
    (found.expect("it was just made"), path)
}

async fn tell(world: &World, told: Value) -> Result<Taken, CallbackError> {
    tell_of(world, "mail", told).await
}

async fn tell_of(world: &World, provider: &str, told: Value) -> Result<Taken, CallbackError> {
    let (provider, path) = callback_of(world, provider).await;
    let headers: HeaderMap = [(CALLBACK_SIGNATURE.parse().unwrap(), "good".parse().unwrap())]
        .into_iter()
        .collect();
    let body = told.to_string();
    let call = Incoming {
        method: &Method::POST,
        path_and_query: &path,
        headers: &headers,
        body: body.as_bytes(),
    };
    world.central.receipts.take(&provider, call).await
}

/// Tells and works on it.
async fn told(world: &World, told: Value) -> u64 {
    assert!(matches!(tell(world, told).await, Ok(Taken::Stored(_))));
    world.central.receipts.sweep().await.unwrap()
}

fn reference(id: NotificationId) -> String {
    format!("{id}.0.ops@example.com")
}

async fn delivered(world: &mut World) -> NotificationId {
    let id = world.send(a_notification().to_list("ops")).await;
    world.sweep().await;
    assert_eq!(world.get(id).await.status, Status::Delivered);
    id
}

#[tokio::test]
async fn a_secret_finds_its_provider_until_another_is_made() {
    let world = world().await;
    let (_, path) = callback(&world).await;
    let first = path.rsplit('/').next().unwrap().to_owned();
    assert_eq!(first.len(), 32);
    assert!(path.starts_with("/callbacks/mail/"), "{path}");
    let receipts = &world.central.receipts;
    assert!(
        receipts.provider("hook", &first).await.unwrap().is_none(),
        "another's"
    );
    callback(&world).await;
    assert!(
        receipts.provider("mail", &first).await.unwrap().is_none(),
        "the old one"
    );
}

#[tokio::test]
async fn without_a_public_address_or_a_provider_no_callback_is_made() {
    let world = World::new().await;
    let (mail, nobody) = (ProviderId::new("mail"), ProviderId::new("nobody"));
    let providers = &world.central.providers;
    let made = providers.new_callback(TENANT, &mail, &somebody()).await;
    assert!(matches!(made, Err(CallbackProblem::NoPublicUrl)));
    let made = providers.new_callback(TENANT, &nobody, &somebody()).await;
    assert!(matches!(made, Err(CallbackProblem::NotFound)));
}

#[tokio::test]
async fn a_callback_without_a_signature_stores_nothing() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    let (provider, path) = callback(&world).await;
    let body = json!([{"ref": reference(id), "state": "failed"}]).to_string();
    let call = Incoming {
        method: &Method::POST,
        path_and_query: &path,
        headers: &HeaderMap::new(),
        body: body.as_bytes(),
    };
    let refused = world.central.receipts.take(&provider, call).await;
    assert!(matches!(
        refused,
        Err(CallbackError::Refused(CallbackRefused::Signature))
    ));
    assert_eq!(world.central.receipts.sweep().await.unwrap(), 0);
    assert_eq!(world.get(id).await.status, Status::Delivered);
}

#[tokio::test]
async fn a_kind_sees_the_address_as_the_outside_writes_it() {
    let world = world().await;
    let (provider, path) = callback(&world).await;
    let call = Incoming {
        method: &Method::GET,
        path_and_query: &format!("{path}?hub.mode=subscribe"),
        headers: &HeaderMap::new(),
        body: b"",
    };
    let answer = world.central.receipts.take(&provider, call).await.unwrap();
    let url = format!("https://waypost.example{path}?hub.mode=subscribe");
    assert_eq!(answer, Taken::Answer(url));
}

#[tokio::test]
async fn a_failure_parks_and_only_an_operator_sends_again() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    assert_eq!(
        told(
            &world,
            json!([{"ref": reference(id), "state": "failed", "code": "RECIPIENT"}])
        )
        .await,
        1
    );
    let row = world.get(id).await;
    assert_eq!(
        (row.status, row.receipt.as_deref()),
        (Status::Parked, Some("failed"))
    );
    world.advance(secs(86_400));
    world.sweep().await;
    assert_eq!(world.mail.received().len(), 1, "never by itself");
    let acted = world.central.operator.requeue(TENANT, &[id], &somebody()).await;
    acted.unwrap();
    world.sweep().await;
    assert_eq!(world.mail.received().len(), 2);
    // The first round's news, late: the row is of another round and stays.
    told(&world, json!([{"ref": reference(id), "state": "failed"}])).await;
    assert_eq!(world.get(id).await.status, Status::Delivered);
}

#[tokio::test]
async fn a_failure_of_the_account_holds_the_lane() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    let told_of = json!([{"ref": reference(id), "state": "failed", "code": "BILLING", "hold": "billing"}]);
    told(&world, told_of).await;
    let provider = world
        .central
        .store
        .provider(TENANT, &ProviderId::new("mail"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(provider.hold.map(|hold| hold.reason), Some(HoldReason::Billing));
}

#[tokio::test]
async fn a_hold_that_a_receipt_sets_stops_a_message_to_many_that_is_under_way_here() {
    let mut settings = settings();
    settings.dispatch.interval = secs(86_400);
    settings.dispatch.grace = secs(60);
    let mut world = World::with(settings).await;
    let id = delivered(&mut world).await;
    let told_of = json!([{"ref": reference(id), "state": "failed", "code": "BILLING", "hold": "billing"}]);
    tell(&world, told_of).await.unwrap();
    world.mail.asks_one_by_one();
    world
        .mail
        .script(|_, _| Reply::AtGate(Outcome::Delivered(Accepted::default())));
    let crew: Vec<_> = (0..25).map(|i| format!("r{i:02}@x")).collect();
    let crew: Vec<_> = crew.iter().map(String::as_str).collect();
    let to_many = world.send(a_notification().to(&crew)).await;
    let dispatcher = std::mem::replace(&mut world.dispatcher, world.central.dispatcher());
    let stop = CancellationToken::new();
    let running = tokio::spawn(dispatcher.run(stop.clone()));
    world.mail.waiting(1).await;
    until("the first look", async || {
        let reports = world.central.loops.reports();
        reports.get("dispatch").is_some_and(|dispatch| dispatch.runs > 0)
    })
    .await;
    // Nobody tells of this one: it is found by a look.
    let store = &world.central.store;
    let hook = store.provider(TENANT, &ProviderId::new("hook")).await.unwrap();
    let unheard_of = NewNotification {
        submission: a_notification().by(Channel::Webhook).0,
        lane: hook.unwrap().lane,
    };
    store.ingest(vec![unheard_of]).await.unwrap();
    assert_eq!(world.central.receipts.sweep().await.unwrap(), 1);
    until("a look", async || !world.hook.received().is_empty()).await;
    world.mail.open_gate();
    stop.cancel();
    running.await.unwrap();
    let chunks = world.mail.received().into_iter().filter(|m| m.id == to_many);
    assert_eq!(chunks.count(), 1, "the one that was out");
    let row = world.get(to_many).await;
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0), "uncounted");
    let accepted = RecipientState::Accepted;
    assert_eq!(row.recipients.iter().filter(|r| r.state == accepted).count(), 10);
}

#[tokio::test]
async fn a_late_failure_of_the_account_does_not_hold_a_lane_whose_settings_were_corrected() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    world.advance(secs(60));
    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("password".into(), "paid".into());
        })
        .await;
    let told_of = json!([{"ref": reference(id), "state": "failed", "code": "BILLING", "hold": "billing"}]);
    told(&world, told_of).await;
    assert_eq!(world.get(id).await.status, Status::Parked);
    let mail = ProviderId::new("mail");
    let provider = world.central.store.provider(TENANT, &mail).await.unwrap();
    assert_eq!(provider.unwrap().hold, None);
}

#[tokio::test]
async fn what_the_far_end_calls_a_message_finds_it() {
    let mut world = world().await;
    // The provider gets receipts from here on.
    callback(&world).await;
    world.mail.answers(Outcome::Delivered(Accepted {
        provider_message_id: Some("sid-1".into()),
        detail: None,
    }));
    let id = delivered(&mut world).await;
    told(
        &world,
        json!([{"id": "sid-1", "state": "read"}, {"id": "sid-2", "state": "read"}]),
    )
    .await;
    assert_eq!(world.get(id).await.receipt.as_deref(), Some("read"));
}

#[tokio::test]
async fn what_nobody_signed_is_asked_for_before_it_is_believed() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    let unproven = || json!([{"ref": reference(id), "state": "read", "unproven": true}]);
    let asked = async |world: &World| {
        tell(world, unproven()).await.unwrap();
        assert_eq!(world.central.receipts.ask().await.unwrap(), 1);
        world.central.receipts.sweep().await.unwrap();
    };
    asked(&world).await;
    assert_eq!(
        world.get(id).await.receipt,
        None,
        "the far end knows nothing of it"
    );
    let delivered = Some(ReceiptState::Delivered);
    world.mail.about_receipts(AboutReceipts::Says(delivered));
    asked(&world).await;
    assert_eq!(
        world.get(id).await.receipt.as_deref(),
        Some("delivered"),
        "as it says itself"
    );
}

#[tokio::test]
async fn a_far_end_that_hangs_when_it_is_asked_keeps_nobody_elses_receipts_waiting() {
    let mut world = world().await;
    let hangs = delivered(&mut world).await;
    let signed = delivered(&mut world).await;
    let asked = world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    world.mail.about_receipts(AboutReceipts::NeverAnswers);
    let delivered = Some(ReceiptState::Delivered);
    world.hook.about_receipts(AboutReceipts::Says(delivered));
    let unproven = |reference: String| json!([{"ref": reference, "state": "read", "unproven": true}]);
    tell(&world, unproven(reference(hangs))).await.unwrap();
    tell_of(&world, "hook", unproven(format!("{asked}.0")))
        .await
        .unwrap();
    let receipts = world.central.receipts.clone();
    let asking = tokio::spawn(async move { receipts.ask().await });
    tell(&world, json!([{"ref": reference(signed), "state": "read"}]))
        .await
        .unwrap();
    let receipt = async |id| world.get(id).await.receipt;
    until("the receipts of the others", async || {
        world.central.receipts.sweep().await.unwrap();
        receipt(asked).await.as_deref() == Some("delivered")
            && receipt(signed).await.as_deref() == Some("read")
    })
    .await;
    assert_eq!(receipt(hangs).await, None);
    assert!(!asking.is_finished());
    asking.abort();
}

#[tokio::test]
async fn a_far_end_that_fails_when_it_is_asked_is_asked_once_a_round() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    world.mail.about_receipts(AboutReceipts::Fails);
    let unproven = json!({"ref": reference(id), "state": "read", "unproven": true});
    tell(&world, json!([unproven, unproven, unproven])).await.unwrap();
    let receipts = &world.central.receipts;
    assert_eq!(receipts.ask().await.unwrap(), 0);
    assert_eq!(world.mail.asked_about_receipts(), 1);
    assert_eq!(receipts.ask().await.unwrap(), 0);
    assert_eq!(world.mail.asked_about_receipts(), 1, "none of them is due yet");
    let read = Some(ReceiptState::Read);
    world.mail.about_receipts(AboutReceipts::Says(read));
    world.advance(secs(60));
    assert_eq!(receipts.ask().await.unwrap(), 3);
    receipts.sweep().await.unwrap();
    assert_eq!(world.get(id).await.receipt.as_deref(), Some("read"));
}

#[tokio::test]
async fn a_receipt_while_it_is_being_sent_is_worked_on_afterwards() {
    let mut world = world().await;
    let far_end: FarEnd = world.mail.clone();
    far_end.script(|_, _| testkit::Reply::AtGate(Outcome::Delivered(Accepted::default())));
    let id = world.send(a_notification().to_list("ops")).await;
    let told_of = json!([{"ref": reference(id), "state": "read"}]);
    assert!(matches!(tell(&world, told_of).await, Ok(Taken::Stored(1))));
    let receipts = world.central.receipts.clone();
    let between = async {
        far_end.waiting(1).await;
        assert_eq!(receipts.sweep().await.unwrap(), 0);
        far_end.open_gate();
    };
    tokio::join!(world.dispatcher.sweep(), between).0.unwrap();
    assert_eq!(world.get(id).await.status, Status::Delivered);
    world.advance(secs(60));
    world.central.receipts.sweep().await.unwrap();
    assert_eq!(world.get(id).await.receipt.as_deref(), Some("read"));
    assert_eq!(world.mail.received().len(), 1);
}

#[tokio::test]
async fn making_an_address_is_audited_and_says_nothing_of_it() {
    let world = world().await;
    let (_, path) = callback(&world).await;
    let filter = store::query::AuditFilter {
        kind: Some(AuditKind::ProviderChanged),
        ..Default::default()
    };
    let page = store::query::Page {
        limit: 1,
        after: None,
    };
    let rows = world
        .central
        .store
        .audit(TENANT, &filter, page)
        .await
        .unwrap()
        .rows;
    assert_eq!(rows[0].detail.as_deref(), Some("callback address made"));
    let secret = path.rsplit('/').next().unwrap();
    let shown = format!(
        "{rows:?} {:?}",
        world.central.store.providers(TENANT).await.unwrap()
    );
    assert!(!shown.contains(secret));
}

#[tokio::test]
async fn an_inbox_that_is_full_takes_nothing_until_it_was_worked_on() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    world.central.receipts = world.central.receipts.clone().bounded_to(2);
    let told_of = |state: &str| json!([{"ref": reference(id), "state": state}]);
    for state in ["accepted", "delivered"] {
        assert!(matches!(tell(&world, told_of(state)).await, Ok(Taken::Stored(1))));
    }
    assert!(matches!(
        tell(&world, told_of("read")).await,
        Err(CallbackError::Full)
    ));
    world.central.receipts.sweep().await.unwrap();
    assert!(matches!(
        tell(&world, told_of("read")).await,
        Ok(Taken::Stored(1))
    ));
}

async fn suppressions(world: &World) -> Vec<domain::suppression::Suppression> {
    let (all, page) = (
        Default::default(),
        store::query::Page {
            limit: 100,
            after: None,
        },
    );
    let found = world.central.store.suppressions(TENANT, &all, page).await;
    found.unwrap().rows
}

#[tokio::test]
async fn a_receipt_that_says_opted_out_puts_the_recipient_on_the_list() {
    let mut world = world().await;
    let id = delivered(&mut world).await;
    let opted_out = json!([{"ref": reference(id), "state": "failed", "code": "RECIPIENT", "own": "STOP"}]);
    assert_eq!(told(&world, opted_out).await, 1);
    let found = suppressions(&world).await;
    assert_eq!(found.len(), 1);
    let entry = &found[0].entry;
    assert_eq!(
        (entry.address.as_str(), entry.source),
        ("ops@example.com", SuppressionSource::Receipt)
    );
    let other =
        json!([{"ref": reference(delivered_to_crew(&mut world).await), "state": "failed", "own": "30008"}]);
    told(&world, other).await;
    assert_eq!(suppressions(&world).await.len(), 1);
}

async fn delivered_to_crew(world: &mut World) -> NotificationId {
    let id = world.send(a_notification().to(&["crew@example.com"])).await;
    world.sweep().await;
    id
}

#[tokio::test]
async fn what_a_person_took_off_the_list_is_not_put_on_it_by_what_was_said_before() {
    let mut world = world().await;
    let (first, second) = (delivered(&mut world).await, delivered(&mut world).await);
    let opted_out =
        |id| json!([{"ref": reference(id), "state": "failed", "code": "RECIPIENT", "own": "STOP"}]);
    told(&world, opted_out(first)).await;
    let entry = suppressions(&world).await.remove(0);
    world.advance(secs(60));
    let suppressing = world.central.suppressions.clone();
    assert!(suppressing.remove(TENANT, entry.id, &somebody()).await.unwrap());
    told(&world, opted_out(first)).await;
    assert_eq!(suppressions(&world).await.len(), 0, "it was known");
    told(&world, opted_out(second)).await;
    assert_eq!(suppressions(&world).await.len(), 0, "that was sent before");
    world.advance(secs(60));
    let third = delivered(&mut world).await;
    told(&world, opted_out(third)).await;
    assert_eq!(suppressions(&world).await.len(), 1, "and still they want no more");
}

#[tokio::test]
async fn what_fits_nothing_of_one_provider_pushes_out_nothing_of_another() {
    let mut world = world().await;
    world.central.receipts = world.central.receipts.clone().keeping_orphans(2);
    let theirs = |n: u32| json!([{"id": format!("theirs-{n}"), "state": "read"}]);
    for n in 0..3 {
        told(&world, theirs(n)).await;
    }
    let waiting = async || world.central.store.receipts_waiting(9).await.unwrap().later;
    assert_eq!(waiting().await, 2, "no more of this one");
    // Its record has still to come.
    let early = json!([{"id": "sid-1", "state": "read"}]);
    tell_of(&world, "hook", early).await.unwrap();
    world.central.receipts.sweep().await.unwrap();
    assert_eq!(waiting().await, 3);
    world.hook.answers(Outcome::Delivered(Accepted {
        provider_message_id: Some("sid-1".into()),
        detail: None,
    }));
    let id = world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    world.advance(secs(60));
    world.central.receipts.sweep().await.unwrap();
    assert_eq!(world.get(id).await.receipt.as_deref(), Some("read"));
}
