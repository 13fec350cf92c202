//! Two nodes on one PostgreSQL inside this process, so that each can have a clock of its own.

use crate::{postgres, size};
use central::{Central, Settings, changes::News, providers::ProviderDraft, secrets::Sealer};
use delivery::Registry;
use domain::{
    Accepted, Actor, Channel, Clock, Correlation, Failure, HoldReason, Limits, NotificationId, Outcome,
    ProviderId, Receipt, ReceiptState, Scope, Status, SystemClock, TenantId, Timestamp, lock::lock,
};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use store::{
    Store,
    directory::{Role, TenantDeletion},
    receipts::ReceiptsFrom,
    signals::Signal,
};
use testkit::{FarEnd, Reply, a_notification, eventually, until};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

/// A wall clock that is wrong by a constant.
#[derive(Debug)]
struct Ahead(Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.0
    }
}

async fn node(url: &str, name: &str, far_end: &FarEnd, clock: Arc<dyn Clock>, lease: Duration) -> Central {
    let store: Arc<dyn Store> = Arc::new(postgres::open(url, name).await);
    let mut settings = Settings::named(name);
    settings.dispatch.lease = lease;
    settings.dispatch.interval = Duration::from_millis(200);
    let registry = Registry::new(vec![far_end.kind()]).unwrap();
    Central::new(store, registry, Sealer::ephemeral(), clock, settings)
}

/// Two nodes on one database, the clock of the second so much ahead.
async fn two_nodes(far_end: &FarEnd, ahead: Duration, lease: Duration) -> [Central; 2] {
    let url = postgres::database().await;
    [
        node(&url, "one", far_end, Arc::new(SystemClock), lease).await,
        node(&url, "two", far_end, Arc::new(Ahead(ahead)), lease).await,
    ]
}

/// Sends so many through both nodes and answers how often each was delivered.
async fn deliver(
    nodes: &[Central; 2],
    far_end: &FarEnd,
    total: usize,
) -> HashMap<domain::NotificationId, usize> {
    deliver_within(nodes, far_end, total, Limits::default()).await
}

async fn deliver_within(
    [one, two]: &[Central; 2],
    far_end: &FarEnd,
    total: usize,
    limits: Limits,
) -> HashMap<domain::NotificationId, usize> {
    let draft = ProviderDraft {
        id: Some("hook".into()),
        kind: "test-hook".into(),
        limits: Some(limits),
        ..ProviderDraft::default()
    };
    one.providers
        .create(TenantId::DEFAULT, draft, &Actor::system())
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let running = [one.start(&stop), two.start(&stop)];
    for (i, batch) in (0..total).collect::<Vec<_>>().chunks(250).enumerate() {
        let incoming = batch
            .iter()
            .map(|_| a_notification().by(Channel::Webhook).0)
            .collect();
        let node = if i.is_multiple_of(2) { one } else { two };
        node.ingest.submit(incoming).await.unwrap();
    }
    until("nothing to be waiting any more", async || {
        let kpis = one.store.kpis(Some(TenantId::DEFAULT), one.settings.kpi).await;
        kpis.unwrap().queue_depth == 0
    })
    .await;
    stop.cancel();
    for tasks in running {
        tasks.wait().await;
    }
    assert_eq!(one.store.misplaced().await.unwrap(), 0);
    let mut times = HashMap::new();
    for message in far_end.received() {
        *times.entry(message.id).or_insert(0) += 1;
    }
    times
}

/// A lease is renewed each time a quarter of it is over.
const RENEWALS_PER_LEASE: u64 = 4;

/// Once the node has looked so many more times at the leases it holds.
async fn renewed(node: &Central, times: u64) {
    ran(node, "leases", times).await;
}

/// Once one of the node's loops has run so many more times.
async fn ran(node: &Central, name: &str, times: u64) {
    let runs = || node.loops.reports()[name].runs;
    let enough = runs() + times;
    until("runs of a loop", async || runs() >= enough).await;
}

fn far_end() -> FarEnd {
    FarEnd::new("test-hook", Channel::Webhook)
}

fn assert_once_each(times: &HashMap<domain::NotificationId, usize>, total: usize) {
    assert_eq!(times.len(), total);
    let twice = times.values().filter(|n| **n > 1).count();
    assert_eq!(twice, 0, "{twice} were delivered more than once");
}

/// What a listener on one node hears of this notification, until it is delivered.
async fn heard_until_delivered(news: &mut Receiver<News>, id: NotificationId) -> Vec<Status> {
    let mut heard = vec![];
    while heard.last() != Some(&Status::Delivered) {
        let next = tokio::time::timeout(Duration::from_secs(180), news.recv()).await;
        match next.expect("news").unwrap() {
            News::Change(change) if change.id == id => heard.push(change.status),
            _ => {}
        }
    }
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_watches_one_node_hears_what_the_other_does() {
    let (url, far_end) = (postgres::database().await, far_end());
    let lease = Duration::from_secs(120);
    let one = node(&url, "one", &far_end, Arc::new(SystemClock), lease).await;
    let two = node(&url, "two", &far_end, Arc::new(SystemClock), lease).await;
    let draft = ProviderDraft {
        id: Some("hook".into()),
        kind: "test-hook".into(),
        ..ProviderDraft::default()
    };
    let system = Actor::system();
    one.providers
        .create(TenantId::DEFAULT, draft, &system)
        .await
        .unwrap();
    let stop = CancellationToken::new();
    // The other one's dispatcher is never started: whatever is heard there was done here.
    let running = [one.start(&stop), two.start_listening(&stop)];
    assert!(!one.changes.is_watched());
    let mut news = two.changes.subscribe();
    until("somebody to watch", async || one.changes.is_watched()).await;
    let submission = a_notification().by(Channel::Webhook).0;
    let id = submission.id;
    one.ingest.submit(vec![submission]).await.unwrap();
    let heard = heard_until_delivered(&mut news, id).await;
    assert_eq!(heard.last(), Some(&Status::Delivered));
    stop.cancel();
    for tasks in running {
        tasks.wait().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_watches_a_node_that_could_not_hear_the_others_is_told_that_something_may_be_missing() {
    let (url, far_end) = (postgres::database().await, far_end());
    let node = node(
        &url,
        "one",
        &far_end,
        Arc::new(SystemClock),
        Duration::from_secs(120),
    )
    .await;
    let stop = CancellationToken::new();
    let running = node.start_listening(&stop);
    let mut news = node.changes.subscribe();
    // The first session may still be on its way.
    until("something to be missing", async || {
        postgres::end_listeners(&url).await;
        news.try_recv().is_ok_and(|heard| heard == News::Missed(1))
    })
    .await;
    stop.cancel();
    running.wait().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_live_nodes_never_deliver_the_same_notification_twice() {
    let total = size::pick(5_000, 50_000);
    let far_end = far_end();
    let nodes = two_nodes(&far_end, Duration::ZERO, Duration::from_secs(120)).await;
    let times = deliver(&nodes, &far_end, total).await;
    assert_once_each(&times, total);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_when_one_nodes_clock_is_five_minutes_ahead() {
    let total = size::pick(5_000, 50_000);
    // The lease is shorter than the difference of the clocks.
    let far_end = far_end();
    let nodes = two_nodes(&far_end, Duration::from_secs(300), Duration::from_secs(60)).await;
    let times = deliver(&nodes, &far_end, total).await;
    assert_once_each(&times, total);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_when_the_far_end_is_slower_than_the_lease() {
    let far_end = far_end();
    far_end.script(|_, _| Reply::AtGate(Outcome::Delivered(Default::default())));
    let total = size::pick(60, 200);
    let nodes = two_nodes(&far_end, Duration::ZERO, Duration::from_secs(15)).await;
    let opener = async {
        // One of each node: a lane that has not been heard of has no more under way.
        far_end.waiting(2).await;
        // Longer than the lease: without renewal the other node would have taken these over.
        let looks = RENEWALS_PER_LEASE + 2;
        tokio::join!(renewed(&nodes[0], looks), renewed(&nodes[1], looks));
        far_end.open_gate();
    };
    let (times, ()) = tokio::join!(deliver(&nodes, &far_end, total), opener);
    assert_once_each(&times, total);
}

/// When the provider of the default tenant is not asked before, once somebody has said so.
async fn paused_until(node: &Central) -> Timestamp {
    eventually("the pause that the service asked for", async || {
        let lanes = node.store.lanes(TenantId::DEFAULT).await.unwrap();
        lanes.into_iter().find_map(|lane| lane.not_before)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_a_service_has_asked_for_a_pause_neither_node_begins_a_request_before_it_is_over() {
    const WARM: usize = 300;
    const LATENCY: Duration = Duration::from_millis(1_500);
    /// The first may have begun before the pause was on record, and what got its place before the second has begun by the third.
    const LOOKS_UNTIL_QUIET: u64 = 3;
    let pause = Duration::from_secs(10);
    let far_end = far_end();
    let begun: Arc<Mutex<Vec<Timestamp>>> = Arc::default();
    let log = begun.clone();
    // Quick until both nodes have opened up and claim ahead of their places; then slow, and in the middle of that it
    // has enough.
    far_end.script(move |_, _| {
        let mut begun = lock(&log);
        begun.push(SystemClock.now());
        match begun.len() {
            0..WARM => Reply::After(Duration::from_millis(2), accepted()),
            n if n == WARM + 90 => {
                let slow = Failure::transient(Scope::Lane, "RATE_LIMITED", "slow down");
                Reply::Now(slow.after(Some(pause)).into())
            }
            _ => Reply::After(LATENCY, accepted()),
        }
    });
    let nodes = two_nodes(&far_end, Duration::ZERO, Duration::from_secs(120)).await;
    let paused = async {
        let until = paused_until(&nodes[0]).await;
        let [one, two] = nodes
            .each_ref()
            .map(|node| ran(node, "dispatch", LOOKS_UNTIL_QUIET));
        tokio::join!(one, two);
        (SystemClock.now(), until)
    };
    let total = size::pick(700, 2_000);
    let (times, (looked, until)) = tokio::join!(deliver(&nodes, &far_end, total), paused);
    let begun = lock(&begun).clone();
    let within = |at: &&Timestamp| **at > looked && **at < until;
    let early: Vec<_> = begun.iter().filter(within).collect();
    assert!(
        early.is_empty(),
        "{} requests began in the pause: {early:?}, looked {looked}, over {until}",
        early.len()
    );
    assert!(begun.iter().any(|at| *at >= until), "it went on afterwards");
    assert_eq!(times.len(), total);
}

/// Two nodes with a provider `hook`, and what the second hears from now on.
async fn heard_by_the_other(far_end: &FarEnd) -> ([Central; 2], Receiver<Signal>) {
    let nodes = two_nodes(far_end, Duration::ZERO, Duration::from_secs(60)).await;
    let [one, two] = &nodes;
    let draft = ProviderDraft {
        id: Some("hook".into()),
        kind: "test-hook".into(),
        ..ProviderDraft::default()
    };
    one.providers
        .create(TenantId::DEFAULT, draft, &Actor::system())
        .await
        .unwrap();
    let mut heard = two.store.subscribe();
    until("the other node to listen", async || {
        one.store.announce(Signal::Events);
        matches!(heard.try_recv(), Ok(Signal::Events))
    })
    .await;
    (nodes, heard)
}

async fn hears_that_it_has_to_look(mut heard: Receiver<Signal>) {
    until("the other node to hear that it has to look", async || {
        std::iter::from_fn(|| heard.try_recv().ok()).any(|signal| signal == Signal::LookAgain)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_node_hears_at_once_of_a_hold_by_hand() {
    let far_end = far_end();
    let ([one, _two], heard) = heard_by_the_other(&far_end).await;
    let (hook, somebody) = (ProviderId::new("hook"), Actor::system());
    let held = one.providers.hold(TenantId::DEFAULT, &hook, None, &somebody);
    assert!(held.await.unwrap());
    hears_that_it_has_to_look(heard).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_node_hears_at_once_of_a_hold_that_a_receipt_sets() {
    let far_end = far_end();
    let ([one, _two], heard) = heard_by_the_other(&far_end).await;
    let submission = a_notification().by(Channel::Webhook).0;
    let about = Correlation {
        id: submission.id,
        generation: 0,
        recipient: None,
    };
    one.ingest.submit(vec![submission]).await.unwrap();
    assert_eq!(one.dispatcher().sweep().await.unwrap().delivered, 1);
    let hook = one
        .store
        .provider(TenantId::DEFAULT, &ProviderId::new("hook"))
        .await;
    let from = ReceiptsFrom {
        tenant: TenantId::DEFAULT,
        lane: hook.unwrap().unwrap().lane,
    };
    let unpaid = Receipt {
        correlation: Some(about),
        hold: Some(HoldReason::Billing),
        ..Receipt::new(ReceiptState::Failed)
    };
    one.store.keep_receipts(from, vec![unpaid]).await.unwrap();
    assert_eq!(one.receipts.sweep().await.unwrap(), 1);
    hears_that_it_has_to_look(heard).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concurrency_that_somebody_made_smaller_holds_over_both_nodes() {
    let far_end = far_end();
    let under_way = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (under_way.clone(), most.clone());
    far_end.script(move |_, _| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let now = now.clone();
        Reply::Later(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            accepted()
        }))
    });
    let nodes = two_nodes(&far_end, Duration::ZERO, Duration::from_secs(120)).await;
    let limits = Limits {
        concurrency: 2,
        per_second: None,
    };
    let total = size::pick(100, 500);
    let times = deliver_within(&nodes, &far_end, total, limits).await;
    assert_once_each(&times, total);
    assert_eq!(most.load(Ordering::SeqCst), 2, "attempts under way at once");
}

/// A clock that stands still: what is kept for some seconds is kept for ever.
#[derive(Debug)]
struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_tenants_key_is_refused_by_the_other_node_as_soon_as_it_hears_of_it() {
    let (far_end, url) = (far_end(), postgres::database().await);
    let lease = Duration::from_secs(60);
    let one = node(&url, "one", &far_end, Arc::new(SystemClock), lease).await;
    let two = node(&url, "two", &far_end, Arc::new(Still(SystemClock.now())), lease).await;
    let stop = CancellationToken::new();
    let running = [one.start_listening(&stop), two.start_listening(&stop)];
    let made = one.store.create_tenant("acme", &Actor::system()).await.unwrap();
    let key = one
        .keys
        .create(made.id, "app", Role::Producer, &Actor::system())
        .await;
    let key = key.unwrap().text;
    assert!(two.keys.authenticate(&key).await.unwrap().is_some());
    let deleted = one.delete_tenant(made.id, &Actor::system()).await.unwrap();
    assert_eq!(deleted, TenantDeletion::Deleted);
    assert!(one.keys.authenticate(&key).await.unwrap().is_none());
    until("the other node to refuse the key", async || {
        two.keys.authenticate(&key).await.unwrap().is_none()
    })
    .await;
    stop.cancel();
    for tasks in running {
        tasks.wait().await;
    }
}

fn accepted() -> Outcome {
    Outcome::Delivered(Accepted::default())
}
