//! What central acknowledged to a machine that was replaced meanwhile is remembered by the one that replaced it.

use crate::{
    central::identity,
    pair_world::{a_pair, has_all, notify, world},
};
use domain::pair::Role;
use store::buffer::Handed;

#[tokio::test]
async fn notifications_that_central_acknowledged_to_the_loser_alone_are_the_winners_to_forward_again() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let b_alone = b.end().await;
    let only_here = notify(&a, 2).await;
    let buffer = a.agent().unwrap().site.buffer.clone();
    let mut acked = vec![];
    for id in &only_here {
        acked.push(buffer.message(*id).await.unwrap().unwrap().seq);
    }
    let central = identity("one");
    buffer.met_central(&central).await.unwrap();
    let handed = Handed {
        acked,
        refused: vec![],
    };
    assert!(buffer.handed_over(&central, handed).await.unwrap());
    drop(buffer);
    a.holds(1).await;
    let a_alone = a.end().await;
    let b = b_alone.run();
    let agent = b.becomes(Role::Standby).await;
    agent.site.pair().unwrap().promote(true).await.unwrap();
    drop(agent);
    b.becomes(Role::Active).await;
    let a = a_alone.run();
    a.becomes(Role::Standby).await;
    b.holds(3).await;
    assert!(has_all(&b, &only_here).await);
    a.end().await;
    b.end().await;
}
