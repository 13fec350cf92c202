//! A machine is heard of by whatever it asks, and not only when it connects.

use crate::peer::{KEY, a_message, a_node, about, world};
use domain::{
    lock::lock,
    pair::{Role, Table},
};
use link::peer::{HandIn, NotSent};
use std::time::Duration;
use uuid::Uuid;

/// All that a machine may ask over a connection that it has.
const QUESTIONS: [&str; 9] = [
    "look",
    "changes",
    "changes beside",
    "copy",
    "hand in",
    "step down",
    "take over",
    "promise",
    "send",
];

#[tokio::test]
async fn whatever_is_asked_over_a_connection_says_that_the_other_machine_runs() {
    const LIMIT: Duration = Duration::from_secs(30);
    let world = world();
    let entered = world.enter("north", KEY, about(), a_node(Role::Standby)).await;
    let session = entered.unwrap();
    let asked = || *lock(&world.machine.asked);
    assert_eq!(asked(), 0, "who is met says so itself");
    *lock(&world.machine.hangs) = Some("its disk hangs".into());
    for (n, question) in QUESTIONS.into_iter().enumerate() {
        let why = testkit::eventually(question, async || {
            let mut session = session.clone();
            let answered = match question {
                "look" => session.look().await.map(drop),
                "changes" => session.changes(4).await.map(drop),
                "changes beside" => session.changes_beside(4).await.map(drop),
                "copy" => session.copy(Table::Messages, None).await.map(drop),
                "hand in" => session.hand_in(HandIn::default()).await.map(drop),
                "step down" => session.step_down().await.map(drop),
                "take over" => session.take_over(None).await.map(drop),
                "promise" => session.promise((1, Uuid::nil()), LIMIT).await.map(drop),
                _ => match session.send(a_message("history"), LIMIT).await {
                    Err(NotSent::NotTaken(why)) => Err(why),
                    other => panic!("{other:?}"),
                },
            };
            // A machine that stands still for a while does not answer in time.
            answered.err().filter(|why| !why.contains("no answer came"))
        });
        assert_eq!(why.await, "its disk hangs", "{question}");
        assert!(asked() > n as u64, "{question}");
    }
    assert!(lock(&world.machine.sent).is_empty(), "nothing of it is done");
}
