//! What waits for a provider in trouble goes on to the next one of its channel, if a tenant asked for that, and comes to
//! nobody twice by it.

use crate::world::{TENANT, World, secs, somebody};
use central::{Settings, failover::ChannelOrder, secrets::Sealer};
use delivery::Message;
use domain::{
    AuditKind, Channel, Clock, Failure, HoldReason, NotificationId, OnAmbiguous, Outcome, ProviderId, Scope,
    Status, lock::lock,
};
use std::sync::{Arc, Mutex};
use testkit::{FarEnd, Reply, TempStore, a_notification};

/// Two providers of mail on hosts of their own, and what each host was asked to send.
struct Pair {
    world: World,
    says: Arc<Mutex<[Option<Failure>; 2]>>,
    asked: Arc<Mutex<Vec<(usize, NotificationId)>>>,
}

const FIRST: usize = 0;
const SECOND: usize = 1;

fn wrong_password() -> Failure {
    Failure::permanent(Scope::Lane, "AUTH_FAILED", "535 5.7.8 bad credentials").holding(HoldReason::Auth)
}

fn no_answer() -> Failure {
    Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer")
}

fn refused() -> Failure {
    Failure::transient(Scope::Lane, "NETWORK", "connection refused")
}

impl Pair {
    async fn new() -> Self {
        let world = World::new().await;
        let (says, asked) = (Arc::new(Mutex::new([None, None])), Arc::new(Mutex::new(vec![])));
        let pair = Self { world, says, asked };
        pair.host("mail", 1, "first").await;
        pair.host("spare", 2, "second").await;
        let (says, asked) = (pair.says.clone(), pair.asked.clone());
        pair.world.mail.script(move |message: &Message, settings| {
            let host = usize::from(settings["host"] != "first");
            lock(&asked).push((host, message.id));
            match lock(&says)[host].clone() {
                None => Reply::accepted(),
                Some(failure) => Reply::Now(Outcome::Failed(failure)),
            }
        });
        pair.fail_over(true).await;
        pair
    }

    async fn host(&self, id: &str, order: i32, host: &str) {
        let host = host.to_owned();
        self.world
            .provider(id, "test-mail", |draft| {
                draft.order = Some(order);
                draft.settings.insert("host".into(), host.into());
            })
            .await;
    }

    async fn fail_over(&self, on: bool) {
        let failover = &self.world.central.failover;
        failover
            .put(TENANT, Channel::Email, on, &somebody())
            .await
            .unwrap();
    }

    fn says(&self, host: usize, failure: Option<Failure>) {
        lock(&self.says)[host] = failure;
    }

    async fn send(&self, n: usize) -> Vec<NotificationId> {
        let mut ids = vec![];
        for _ in 0..n {
            ids.push(self.world.send(a_notification()).await);
        }
        ids
    }

    /// What happens by itself: attempts, then moves, until neither has anything left to do.
    async fn settle(&mut self) -> u64 {
        let mut moved = 0;
        for _ in 0..20 {
            let rows = self.world.sweep().await.rows();
            let now = self.world.central.failover.sweep().await.unwrap();
            moved += now;
            if rows + now == 0 {
                return moved;
            }
        }
        panic!("attempts and moves go on for ever");
    }

    fn asked(&self, host: usize) -> Vec<NotificationId> {
        let asked = lock(&self.asked);
        asked
            .iter()
            .filter(|(h, _)| *h == host)
            .map(|(_, id)| *id)
            .collect()
    }

    async fn hold(&self, id: &str) -> Option<HoldReason> {
        let found = self
            .world
            .central
            .store
            .provider(TENANT, &ProviderId::new(id))
            .await;
        found.unwrap().unwrap().hold.map(|hold| hold.reason)
    }

    async fn assert_all(&self, ids: &[NotificationId], status: Status) {
        for id in ids {
            assert_eq!(self.world.status(*id).await, status);
        }
        self.world.assert_nothing_misplaced().await;
    }
}

#[tokio::test]
async fn without_being_asked_everything_waits_for_its_provider() {
    let mut pair = Pair::new().await;
    pair.fail_over(false).await;
    pair.says(FIRST, Some(wrong_password()));
    let ids = pair.send(5).await;
    assert_eq!(pair.settle().await, 0);
    pair.assert_all(&ids, Status::Pending).await;
    assert_eq!(pair.asked(SECOND), []);
}

#[tokio::test]
async fn what_waits_for_a_provider_with_a_wrong_password_goes_out_through_the_next_one() {
    let mut pair = Pair::new().await;
    pair.says(FIRST, Some(wrong_password()));
    let ids = pair.send(200).await;
    assert_eq!(pair.settle().await, 200);
    pair.assert_all(&ids, Status::Delivered).await;
    assert_eq!(pair.hold("mail").await, Some(HoldReason::Auth));
    let mut through = pair.asked(SECOND);
    through.sort();
    let mut expected = ids.clone();
    expected.sort();
    assert_eq!(through, expected, "each once");
    let log = pair.world.attempts(ids[0]).await;
    let moved = log.iter().find(|row| row.kind == AuditKind::NotifyMove).unwrap();
    assert_eq!(moved.target.as_deref(), Some("spare"));
    assert_eq!(moved.code.as_deref(), Some("auth"));
}

#[tokio::test]
async fn what_the_first_provider_would_not_send_at_this_hour_is_not_sent_at_this_hour_by_the_next() {
    let mut pair = Pair::new().await;
    let opens = pair.world.temp.clock.now() + secs(9 * 3600);
    let far_end = &pair.world.mail;
    far_end.opens_at_for(opens, |message, settings| {
        settings["host"] == "first" && message.content.subject == "sale"
    });
    let sale = async |pair: &Pair| {
        let mut sale = a_notification();
        sale.0.content.subject = "sale".into();
        pair.world.send(sale).await
    };
    // One is put off while all is well, the others come when the provider is held already.
    let mut sales = vec![sale(&pair).await];
    pair.settle().await;
    assert_eq!(pair.world.get(sales[0]).await.next_attempt_at, Some(opens));
    pair.says(FIRST, Some(wrong_password()));
    let mut bills = pair.send(1).await;
    pair.settle().await;
    for _ in 0..5 {
        sales.push(sale(&pair).await);
        bills.extend(pair.send(1).await);
    }
    pair.settle().await;
    pair.assert_all(&bills, Status::Delivered).await;
    pair.assert_all(&sales, Status::Pending).await;
    // Probes put them off one by one; whatever the lane is asked meanwhile, none goes out before its time.
    pair.world.advance(secs(3600));
    pair.settle().await;
    assert!(sales.iter().all(|id| !pair.asked(SECOND).contains(id)));
    pair.world.advance(secs(8 * 3600));
    pair.settle().await;
    // A probe that is under way keeps one.
    pair.world.advance(secs(3600));
    pair.settle().await;
    pair.assert_all(&sales, Status::Delivered).await;
    assert!(sales.iter().all(|id| pair.asked(SECOND).contains(id)));
}

#[tokio::test]
async fn a_provider_that_is_down_keeps_whom_it_may_have_reached_and_the_rest_goes_on() {
    let mut pair = Pair::new().await;
    pair.says(FIRST, Some(no_answer()));
    let ids = pair.send(100).await;
    let moved = pair.settle().await;
    assert_eq!(pair.hold("mail").await, Some(HoldReason::Down));
    let mut in_doubt = pair.asked(FIRST);
    in_doubt.sort();
    in_doubt.dedup();
    assert!(in_doubt.len() >= 3, "{}", in_doubt.len());
    assert_eq!(moved as usize + in_doubt.len(), 100);
    assert!(in_doubt.iter().all(|id| !pair.asked(SECOND).contains(id)));
    // They are asked for again where they may be known, and nowhere else.
    pair.says(FIRST, None);
    for _ in 0..30 {
        pair.world.advance(secs(60));
        pair.settle().await;
    }
    pair.assert_all(&ids, Status::Delivered).await;
    assert!(in_doubt.iter().all(|id| !pair.asked(SECOND).contains(id)));
}

#[tokio::test]
async fn where_a_message_costs_money_nobody_in_doubt_is_written_to_again() {
    let mut pair = Pair::new().await;
    let park = |draft: &mut central::providers::ProviderDraft| {
        draft.order = Some(1);
        draft.on_ambiguous = Some(OnAmbiguous::Park);
        draft.settings.insert("host".into(), "first".into());
    };
    pair.world.provider("mail", "test-mail", park).await;
    pair.says(FIRST, Some(no_answer()));
    let ids = pair.send(60).await;
    pair.settle().await;
    let (mut parked, mut delivered) = (0, 0);
    for id in &ids {
        let row = pair.world.get(*id).await;
        match row.status {
            Status::Parked => {
                assert_eq!(row.last_code.as_deref(), Some("AMBIGUOUS"));
                parked += 1;
            }
            status => {
                assert_eq!(status, Status::Delivered);
                delivered += 1;
            }
        }
    }
    assert_eq!(
        parked,
        pair.asked(FIRST).len(),
        "one for each request that was made"
    );
    assert_eq!(delivered, pair.asked(SECOND).len());
    let mut all = [pair.asked(FIRST), pair.asked(SECOND)].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 60, "nobody was written to twice");
}

#[tokio::test]
async fn the_first_provider_is_tried_by_a_new_message_and_takes_them_again_when_it_is_well() {
    let mut pair = Pair::new().await;
    pair.says(FIRST, Some(wrong_password()));
    pair.send(5).await;
    pair.settle().await;
    let tried = pair.asked(FIRST).len();
    // Still in trouble: the probe's message goes on like the others.
    pair.world.advance(secs(3600));
    let ids = pair.send(5).await;
    pair.settle().await;
    pair.assert_all(&ids, Status::Delivered).await;
    assert_eq!(pair.asked(FIRST).len(), tried + 1, "one probe");
    // Well again.
    pair.says(FIRST, None);
    pair.world.advance(secs(3600));
    pair.send(1).await;
    pair.settle().await;
    assert_eq!(pair.hold("mail").await, None);
    let through_second = pair.asked(SECOND).len();
    let ids = pair.send(10).await;
    assert_eq!(pair.settle().await, 0);
    pair.assert_all(&ids, Status::Delivered).await;
    assert_eq!(pair.asked(SECOND).len(), through_second);
}

#[tokio::test]
async fn an_emptied_lane_borrows_a_row_that_still_waits_to_see_whether_it_is_well() {
    let mut pair = Pair::new().await;
    pair.says(FIRST, Some(wrong_password()));
    let ids = pair.send(3).await;
    pair.world.sweep().await;
    assert_eq!(pair.world.central.failover.sweep().await.unwrap(), 3);
    // Before the second has sent them, the first is mended, and nothing new comes in.
    pair.says(FIRST, None);
    let spare = ProviderId::new("spare");
    let central = pair.world.central.clone();
    central
        .providers
        .hold(TENANT, &spare, None, &somebody())
        .await
        .unwrap();
    pair.world.advance(secs(3600));
    // It is lent, and then it is tried.
    pair.settle().await;
    pair.settle().await;
    assert_eq!(pair.hold("mail").await, None);
    assert_eq!(pair.asked(SECOND), []);
    central
        .providers
        .resume(TENANT, &spare, &somebody())
        .await
        .unwrap();
    pair.settle().await;
    pair.assert_all(&ids, Status::Delivered).await;
    assert_eq!(pair.asked(SECOND).len(), 2);
}

#[tokio::test]
async fn what_an_operator_holds_or_a_sender_named_stays() {
    let mut pair = Pair::new().await;
    let mail = ProviderId::new("mail");
    let central = pair.world.central.clone();
    central
        .providers
        .hold(TENANT, &mail, None, &somebody())
        .await
        .unwrap();
    let ids = pair.send(3).await;
    assert_eq!(pair.settle().await, 0);
    pair.assert_all(&ids, Status::Pending).await;
    central
        .providers
        .resume(TENANT, &mail, &somebody())
        .await
        .unwrap();
    pair.says(FIRST, Some(wrong_password()));
    let named = pair.world.send(a_notification().through("mail")).await;
    assert_eq!(pair.settle().await, 3);
    pair.assert_all(&ids, Status::Delivered).await;
    assert_eq!(pair.world.status(named).await, Status::Pending);
}

#[tokio::test]
async fn with_both_in_trouble_everything_waits_and_is_parked_nowhere() {
    let mut pair = Pair::new().await;
    pair.says(FIRST, Some(wrong_password()));
    pair.says(SECOND, Some(refused()));
    let ids = pair.send(20).await;
    pair.settle().await;
    assert_eq!(pair.hold("spare").await, Some(HoldReason::Down));
    for id in &ids {
        assert!(!pair.world.status(*id).await.is_terminal());
    }
    pair.says(SECOND, None);
    for _ in 0..30 {
        pair.world.advance(secs(60));
        pair.settle().await;
    }
    pair.assert_all(&ids, Status::Delivered).await;
}

#[tokio::test]
async fn a_provider_without_the_template_or_of_a_kind_that_cannot_send_it_is_passed_over() {
    let temp = TempStore::open();
    let (mail, hook) = (
        FarEnd::new("test-mail", Channel::Email),
        FarEnd::new("test-hook", Channel::Webhook),
    );
    let picky = FarEnd::new("picky-mail", Channel::Email);
    picky.objects_to("Tank 9");
    let settings = Settings::named("node-1");
    let kinds = vec![picky.kind()];
    let mut world = World::with_kinds(temp, mail, hook, kinds, settings, Sealer::ephemeral());
    world.list("ops", &["ops@example.com"]).await;
    for (order, id, kind, templates) in [
        (1, "a", "test-mail", ""),
        (2, "b", "test-mail", "cold"),
        (3, "c", "picky-mail", "hot"),
        (4, "d", "test-mail", "hot"),
    ] {
        world
            .provider(id, kind, |draft| {
                draft.order = Some(order);
                draft.settings.insert("host".into(), id.into());
                if !templates.is_empty() {
                    draft.settings.insert("templates".into(), templates.into());
                }
            })
            .await;
    }
    let failover = world.central.failover.clone();
    failover
        .put(TENANT, Channel::Email, true, &somebody())
        .await
        .unwrap();
    assert_eq!(
        failover.orders(TENANT).await.unwrap(),
        [ChannelOrder {
            channel: Channel::Email,
            failover: true,
            providers: ["a", "b", "c", "d"].map(ProviderId::new).to_vec(),
        }]
    );
    world.mail.script(|_, settings| match settings["host"].as_str() {
        Some("a") => Reply::Now(wrong_password().into()),
        _ => Reply::accepted(),
    });
    let mut hot = a_notification();
    hot.0.content.type_data = Some(r#"{"template":{"name":"hot"}}"#.into());
    let objected = hot.clone().subject("Tank 9");
    let objected = testkit::fixtures::ANotification(domain::Submission {
        id: NotificationId::mint(),
        ..objected.0
    });
    let mut cold = a_notification();
    cold.0.content.type_data = Some(r#"{"template":{"name":"cold"}}"#.into());
    let (hot, objected, cold) = (
        world.send(hot).await,
        world.send(objected).await,
        world.send(cold).await,
    );
    world.sweep().await;
    assert_eq!(failover.sweep().await.unwrap(), 3);
    world.sweep().await;
    let mut through = vec![];
    for id in [hot, objected, cold] {
        assert_eq!(world.status(id).await, Status::Delivered);
        let log = world.attempts(id).await;
        let moved = log.into_iter().find(|row| row.kind == AuditKind::NotifyMove);
        through.push(moved.unwrap().target.unwrap());
    }
    assert_eq!(through, ["c", "d", "b"]);
}

/// Whether what names a template goes on from a provider with the one setting of `templates` to one with the other.
async fn goes_on(from: &str, to: &str) -> bool {
    let mut world = World::new().await;
    for (order, id, templates) in [(1, "mail", from), (2, "spare", to)] {
        world
            .provider(id, "test-mail", |draft| {
                draft.order = Some(order);
                draft.settings.insert("host".into(), id.into());
                draft.settings.insert("templates".into(), templates.into());
            })
            .await;
    }
    let failover = world.central.failover.clone();
    let who = somebody();
    let on = failover.put(TENANT, Channel::Email, true, &who);
    on.await.unwrap();
    world.mail.script(|_, settings| match settings["host"].as_str() {
        Some("mail") => Reply::Now(wrong_password().into()),
        _ => Reply::accepted(),
    });
    let mut hot = a_notification();
    hot.0.content.type_data = Some(r#"{"template":{"name":"hot"}}"#.into());
    world.send(hot).await;
    world.sweep().await;
    failover.sweep().await.unwrap() == 1
}

#[tokio::test]
async fn what_names_a_template_goes_out_as_a_text_only_where_it_would_have_before() {
    const HAS_NONE: &str = "-";
    const LACKS_IT: &str = "cold";
    const HAS_IT: &str = "hot";
    for (from, to, goes) in [
        (HAS_NONE, HAS_NONE, true),
        (HAS_NONE, HAS_IT, true),
        (HAS_NONE, LACKS_IT, false),
        (HAS_IT, HAS_NONE, false),
        (LACKS_IT, HAS_NONE, false),
        (LACKS_IT, HAS_IT, true),
    ] {
        assert_eq!(goes_on(from, to).await, goes, "from {from:?} to {to:?}");
    }
}

#[tokio::test]
async fn what_comes_in_while_a_provider_is_in_trouble_goes_on_by_itself() {
    let pair = Pair::new().await;
    pair.says(FIRST, Some(wrong_password()));
    let stop = tokio_util::sync::CancellationToken::new();
    let tasks = pair.world.central.start(&stop);
    for _ in 0..3 {
        let ids = pair.send(20).await;
        testkit::eventually("all of it went out", async || {
            let mut delivered = true;
            for id in &ids {
                delivered &= pair.world.status(*id).await == Status::Delivered;
            }
            delivered.then_some(())
        })
        .await;
    }
    stop.cancel();
    tasks.wait().await;
}
