mod schedules;

use super::*;
use futures_util::{StreamExt, stream};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::sleep;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// A source that does as it is told, and what was asked of it.
#[derive(Default)]
struct Source {
    asked: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
    is_down: std::sync::atomic::AtomicBool,
    takes: Mutex<Duration>,
}

struct World {
    asking: Arc<Asking>,
    source: Arc<Source>,
}

impl World {
    fn new(places: usize, takes: Duration) -> Self {
        let source = Arc::new(Source::default());
        *lock(&source.takes) = takes;
        let asking = Arc::new(Asking::new("rentals", places));
        Self { asking, source }
    }

    async fn look(&self, event: i64, now: Timestamp, waits: Waits) -> LookedUp {
        self.ask(about(event), now, waits).await
    }

    async fn ask(&self, question: Question, now: Timestamp, waits: Waits) -> LookedUp {
        let source = self.source.clone();
        let ask = || async move {
            let nth = source.asked.fetch_add(1, Ordering::SeqCst) + 1;
            let beside = source.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            source.most.fetch_max(beside, Ordering::SeqCst);
            let takes = *lock(&source.takes);
            sleep(takes).await;
            source.under_way.fetch_sub(1, Ordering::SeqCst);
            match source.is_down.load(Ordering::SeqCst) {
                true => Err("gone".to_owned()),
                false => Ok(nth_answer(nth)),
            }
        };
        self.asking.answer(&question, now, waits, ask).await
    }

    async fn looks(&self, events: impl IntoIterator<Item = i64>, now: Timestamp) -> Vec<(i64, LookedUp)> {
        let waits = briefly();
        let each = stream::iter(events).map(async |event| (event, self.look(event, now, waits).await));
        each.buffered(super::super::PLANNED_AT_ONCE).collect().await
    }

    fn asked(&self) -> usize {
        self.source.asked.load(Ordering::SeqCst)
    }

    fn takes(&self, takes: Duration) {
        *lock(&self.source.takes) = takes;
    }

    fn is_down(&self, is_down: bool) {
        self.source.is_down.store(is_down, Ordering::SeqCst);
    }
}

/// Which one it was is how a test tells a kept answer from a new one.
fn nth_answer(nth: usize) -> LookedUp {
    LookedUp::Failed(format!("answer {nth}"))
}

/// All of one booking.
fn about(event: i64) -> Question {
    Question {
        lookup: "booking".into(),
        tenant: "default".into(),
        entity: "7".into(),
        event,
        asker: Asker::Event,
    }
}

fn briefly() -> Waits {
    Waits::Briefly(Instant::now() + HALF_A_SECOND)
}

fn after(held: &LookedUp) -> Duration {
    match held {
        LookedUp::Held { after, .. } => *after,
        other => panic!("not held: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_answer_is_waited_for_once_and_its_answer_is_there_later() {
    let world = World::new(1, Duration::from_secs(4));
    let start = Instant::now();
    after(&world.look(1, NOW, briefly()).await);
    assert_eq!(start.elapsed(), HALF_A_SECOND);
    for event in [1, 2, 3] {
        after(&world.look(event, NOW, briefly()).await);
    }
    assert_eq!(start.elapsed(), HALF_A_SECOND, "nobody waits once more");
    assert_eq!(world.asked(), 1, "nor was it asked more");
    sleep(Duration::from_secs(4)).await;
    assert_eq!(world.look(1, NOW, briefly()).await, nth_answer(1));
    assert_eq!(world.asked(), 1, "it was asked that once");
    assert_eq!(
        world.look(2, NOW, Waits::ToTheEnd).await,
        nth_answer(2),
        "a person waits"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_for_the_event_that_asked_and_for_no_later_one() {
    let world = World::new(4, Duration::from_secs(1));
    after(&world.look(1, NOW, briefly()).await);
    sleep(Duration::from_secs(1)).await;
    world.takes(Duration::ZERO);
    assert_eq!(world.look(2, NOW, briefly()).await, nth_answer(2));
    assert_eq!(
        world.look(1, NOW, Waits::ToTheEnd).await,
        nth_answer(3),
        "a person is told how it is now"
    );
    assert_eq!(world.look(1, NOW, briefly()).await, nth_answer(1));
    assert_eq!(
        world.look(1, NOW, briefly()).await,
        nth_answer(4),
        "it is given once"
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_is_asked_at_once_than_there_are_places_and_waiting_for_one_is_nobodys_failure() {
    let world = World::new(2, Duration::from_millis(100));
    let said = world.looks(0..8, NOW).await;
    assert!(
        said.iter().all(|(_, said)| matches!(said, LookedUp::Failed(_))),
        "{said:?}"
    );
    assert_eq!(world.source.most.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn all_lookups_of_a_batch_together_are_waited_for_no_longer_than_one() {
    let world = World::new(4, Duration::from_millis(450));
    let start = Instant::now();
    let said = world.looks(0..400, NOW).await;
    assert_eq!(start.elapsed(), HALF_A_SECOND);
    let answered = said
        .iter()
        .filter(|(_, said)| *said != LookedUp::NoRow && !matches!(said, LookedUp::Held { .. }));
    assert_eq!(answered.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn questions_that_fail_together_are_one_failure_and_its_hold_counts_from_when_it_was_known() {
    let world = World::new(4, Duration::from_secs(5));
    world.is_down(true);
    world.looks(0..4, NOW).await;
    sleep(Duration::from_secs(5)).await;
    let (failed, first) = (NOW + Duration::from_secs(5), retry::probe_source(1));
    assert_eq!(after(&world.look(0, failed, briefly()).await), first);
    let later = failed + first / 2;
    assert_eq!(after(&world.look(9, later, Waits::ToTheEnd).await), first / 2);
    assert_eq!(world.asked(), 4);
    // That it was held is not kept: it is asked again.
    world.is_down(false);
    world.takes(Duration::ZERO);
    assert_eq!(world.look(0, failed + first, briefly()).await, nth_answer(5));
}

#[tokio::test(start_paused = true)]
async fn after_a_hold_one_question_goes_out_and_the_others_once_it_is_answered() {
    let world = World::new(4, Duration::ZERO);
    world.is_down(true);
    world.look(0, NOW, briefly()).await;
    let over = NOW + retry::probe_source(1);
    world.takes(Duration::from_secs(2));
    world.looks(0..10, over).await;
    assert_eq!(world.asked(), 2, "one probe");
    sleep(Duration::from_secs(2)).await;
    let over = over + Duration::from_secs(2) + retry::probe_source(2);
    world.is_down(false);
    world.takes(Duration::from_millis(10));
    let said = world.looks(0..10, over).await;
    assert!(
        said.iter().all(|(_, said)| matches!(said, LookedUp::Failed(_))),
        "{said:?}"
    );
    assert_eq!(world.asked(), 12);
}

/// Events that come back when they are told to: how many were answered, and how often one came.
async fn come_and_go(world: &World, events: i64, for_so_long: Duration) -> (usize, usize) {
    let (start, mut turns) = (Instant::now(), 0);
    let mut due: Vec<(i64, Instant)> = (0..events).map(|event| (event, start)).collect();
    while !due.is_empty() && start.elapsed() < for_so_long {
        let (now, ready): (_, Vec<_>) = (
            NOW + start.elapsed(),
            due.extract_if(.., |(_, at)| *at <= Instant::now()).collect(),
        );
        turns += ready.len();
        for (event, said) in world.looks(ready.iter().map(|(event, _)| *event), now).await {
            if let LookedUp::Held { after, .. } = said {
                due.push((event, Instant::now() + after));
            }
        }
        sleep(Duration::from_millis(20)).await;
    }
    (usize::try_from(events).unwrap() - due.len(), turns)
}

#[tokio::test(start_paused = true)]
async fn a_source_that_takes_a_second_and_a_half_gets_its_events_through_and_is_asked_once_for_each() {
    let world = World::new(4, Duration::from_millis(1_500));
    let (answered, turns) = come_and_go(&world, 100, Duration::from_secs(120)).await;
    assert_eq!((answered, world.asked()), (100, 100));
    assert!(turns < 100 * 10, "{turns} turns");
}

#[tokio::test(start_paused = true)]
async fn events_of_a_source_that_hangs_come_back_ever_less_often() {
    let world = World::new(4, Duration::from_secs(6));
    world.is_down(true);
    let (answered, turns) = come_and_go(&world, 100, Duration::from_secs(300)).await;
    assert_eq!(answered, 0);
    // Once a second it would be 30,000.
    assert!(turns < 100 * 40, "{turns} turns");
    assert!(world.asked() < 20, "{} probes", world.asked());
}

#[tokio::test]
async fn a_lookup_that_breaks_off_says_so_and_leaves_its_place() {
    let asking = Arc::new(Asking::new("rentals", 1));
    for event in 0..3 {
        let ask = || async { panic!("while asking") };
        let said = asking.answer(&about(event), NOW, Waits::ToTheEnd, ask).await;
        assert_eq!(said, LookedUp::Failed("the lookup broke off".into()));
    }
}
