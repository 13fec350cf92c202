//! Any history of claims, slow sends, expired leases, operators, late results and receipts, against a model of one lane.
//!
//! The model is the rules in a few lines: a row waits or has ended; a claim gives it a token; what names the token
//! counts; what does not may only complete it; what the far end tells later completes it or, of what was delivered, takes it
//! back.

mod real;
mod receipts;
mod rules;

use crate::harness::*;
use domain::ReceiptState;
use proptest::test_runner::{Config, TestRunner};
use proptest_state_machine::ReferenceStateMachine;
use real::Real;
use rules::Rules;
use std::{collections::HashSet, sync::atomic::Ordering};
use store::{operator::Acted, outbox::Recorded};

/// What can happen. Numbers name a row or a claim, counted round.
#[derive(Debug, Clone)]
enum Step {
    Send,
    Claim(u8),
    Advance(u8),
    Record(usize, End),
    Release(usize),
    Renew(usize),
    Requeue(usize),
    Discard(usize),
    Cancel(usize),
    /// The far end tells something of a row: of what went out under its generation, or so many before.
    Tell(usize, u8, ReceiptState),
}

#[derive(Debug, Clone, Copy)]
enum End {
    Delivered,
    Retry(u8),
    Wait,
    Park,
    /// Nobody is left who may be written to.
    Suppress,
}

#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Nothing,
    /// Row, attempts so far and interruptions of each.
    Claimed(Vec<(usize, u32, u32)>),
    Recorded(Recorded),
    Held(bool),
    Acted(Acted),
}

pub async fn any_history_matches_the_model(t: &TestStore) {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(120);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    });
    let mut names = HashSet::new();
    let next = std::cell::RefCell::new(&mut names);
    let ran = runner.run(&Rules::sequential_strategy(1..40), |(mut model, steps, seen)| {
        let name = {
            let mut names = next.borrow_mut();
            let name = format!("lane-{}", names.len());
            names.insert(name.clone());
            name
        };
        let case = async {
            let mut real = Real::new(t, t.lane(&name).await);
            for step in &steps {
                if let Some(seen) = &seen {
                    seen.fetch_add(1, Ordering::SeqCst);
                }
                model = Rules::apply(model, step);
                assert_eq!(real.step(step).await, model.answer, "{step:?}");
                real.agrees_with(&model).await;
            }
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(case));
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
}
