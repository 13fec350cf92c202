//! Handing over while calls come in.

use crate::{
    pair_world::{Live, World, a_pair, world},
    world::{a_call, until},
};
use domain::pair::Role;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use store::buffer::MessageId;
use uuid::Uuid;

const SENDERS: usize = 4;
const HANDOVERS: usize = 4;

/// Tries whichever of the two is active, under the same id, until one has taken it.
async fn send(machines: &[Live; 2], id: MessageId) {
    loop {
        for live in machines.iter().filter(|live| live.is(Role::Active)) {
            let Some(agent) = live.agent() else { continue };
            let mut call = a_call("erp");
            call.options.message_id = Some(id);
            if agent.site.send(call).await.is_ok_and(|sent| sent.accepted) {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn hand_over(from: &Live, to: &Live) {
    // Refused until the other one follows this turn; one that tried in vain starts anew.
    testkit::until("the other machine to follow this turn", async || {
        let agent = from.becomes(Role::Active).await;
        agent.site.pair().unwrap().demote().await.is_ok()
    })
    .await;
    to.becomes(Role::Active).await;
    from.becomes(Role::Standby).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_come_while_the_machines_hand_over_are_made_once() {
    let world: World = world();
    let (a, b) = a_pair(&world).await;
    b.becomes(Role::Standby).await;
    let machines = Arc::new([a, b]);
    let (taken, over) = (Arc::new(Mutex::new(vec![])), Arc::new(AtomicBool::new(false)));
    let senders: Vec<_> = (0..SENDERS)
        .map(|_| {
            let (machines, taken, over) = (machines.clone(), taken.clone(), over.clone());
            tokio::spawn(async move {
                while !over.load(Ordering::SeqCst) {
                    let id = MessageId(Uuid::new_v4());
                    send(&machines, id).await;
                    taken.lock().unwrap().push(id);
                }
            })
        })
        .collect();
    for n in 0..HANDOVERS {
        let before = taken.lock().unwrap().len();
        until("calls to be taken in", || {
            taken.lock().unwrap().len() >= before + 50
        })
        .await;
        hand_over(&machines[n % 2], &machines[1 - n % 2]).await;
    }
    over.store(true, Ordering::SeqCst);
    for sender in senders {
        sender.await.unwrap();
    }
    let taken = taken.lock().unwrap().clone();
    until("nothing waits", || {
        machines[HANDOVERS % 2].waiting() == 0 && machines[HANDOVERS % 2].agent().is_some()
    })
    .await;
    for id in &taken {
        assert_eq!(world.systems.attempts_of(*id), 1, "{id} of {}", taken.len());
    }
    for live in Arc::into_inner(machines).unwrap() {
        live.end().await;
    }
}
