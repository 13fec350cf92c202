//! Answers that a schedule comes back for.

use super::*;
use domain::LeaseToken;

/// The same schedule under a claim and after another.
fn claimed(claim: i64, before: Option<i64>) -> Question {
    let asker = Asker::Schedule {
        claim: LeaseToken(claim),
        before: before.map(LeaseToken),
    };
    Question { asker, ..about(1) }
}

#[tokio::test(start_paused = true)]
async fn a_schedule_has_its_answer_however_often_it_came_back_for_it() {
    let world = World::new(4, Duration::from_secs(4));
    after(&world.ask(claimed(1, None), NOW, briefly()).await);
    after(&world.ask(claimed(2, Some(1)), NOW, briefly()).await);
    after(&world.ask(claimed(3, Some(2)), NOW, briefly()).await);
    sleep(Duration::from_secs(4)).await;
    assert_eq!(
        world.ask(claimed(4, Some(3)), NOW, briefly()).await,
        nth_answer(1)
    );
    assert_eq!(world.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_schedule_touched_since_it_asked_is_looked_up_again() {
    let world = World::new(4, Duration::from_secs(1));
    after(&world.ask(claimed(1, None), NOW, briefly()).await);
    // Answered, and then an event of the entity came.
    sleep(Duration::from_secs(1)).await;
    after(&world.ask(claimed(2, None), NOW, briefly()).await);
    assert_eq!(world.asked(), 2);
    // Once more, this time before the answer is there.
    after(&world.ask(claimed(3, None), NOW, briefly()).await);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        world.ask(claimed(4, Some(3)), NOW, briefly()).await,
        nth_answer(3)
    );
    assert_eq!(
        lock(&world.asking.state).all.len(),
        0,
        "what is out of date is not kept"
    );
}

#[tokio::test(start_paused = true)]
async fn a_schedule_is_not_told_what_its_event_asked_before_it_was_one() {
    let world = World::new(4, Duration::from_secs(1));
    after(&world.look(1, NOW, briefly()).await);
    sleep(Duration::from_secs(1)).await;
    world.takes(Duration::ZERO);
    assert_eq!(world.ask(claimed(1, None), NOW, briefly()).await, nth_answer(2));
}
