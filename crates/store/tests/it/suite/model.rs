//! Any history of claims, slow sends, expired leases, operators and late results, against a model of one lane.
//!
//! The model is the rules in a few lines: a row waits or has ended; a claim gives it a token; what names the token
//! counts; what does not may only complete it.

use crate::harness::*;
use domain::{Clock, LaneId, LeaseToken, NotificationId, Status, Timestamp, status::Change};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use proptest_state_machine::ReferenceStateMachine;
use std::{collections::HashSet, sync::atomic::Ordering, time::Duration};
use store::{
    operator::Acted,
    outbox::{AttemptRecord, Claimed, LaneWant, Recorded},
};

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
}

#[derive(Debug, Clone, Copy)]
enum End {
    Delivered,
    Retry(u8),
    Wait,
    Park,
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

#[derive(Debug, Clone)]
struct Model {
    /// Seconds since the start.
    now: u64,
    rows: Vec<Row>,
    claims: Vec<Claim>,
    answer: Answer,
}

#[derive(Debug, Clone)]
struct Row {
    status: Status,
    attempts: u32,
    generation: i32,
    due: u64,
    /// 0 when nobody is sending it.
    leased_until: u64,
    claims: u32,
    /// The claim that holds it, or held it last.
    token: Option<usize>,
    on_record: usize,
}

#[derive(Debug, Clone)]
struct Claim {
    row: usize,
    recorded: bool,
}

impl Row {
    /// When it can be claimed.
    fn next(&self) -> u64 {
        self.due.max(self.leased_until)
    }

    fn waits(&self) -> bool {
        !self.status.is_terminal()
    }

    fn change(&mut self, change: Change) -> Acted {
        match self.status.apply(change) {
            Ok(status) => {
                self.status = status;
                Acted::Done
            }
            Err(_) => Acted::WrongState(self.status),
        }
    }
}

struct Rules;

impl ReferenceStateMachine for Rules {
    type State = Model;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model {
            now: 0,
            rows: vec![],
            claims: vec![],
            answer: Answer::Nothing,
        })
        .boxed()
    }

    fn transitions(_: &Model) -> BoxedStrategy<Step> {
        let end = prop_oneof![
            Just(End::Delivered),
            (0u8..90).prop_map(End::Retry),
            Just(End::Wait),
            Just(End::Park),
        ];
        prop_oneof![
            2 => Just(Step::Send),
            5 => (1u8..4).prop_map(Step::Claim),
            4 => (1u8..80).prop_map(Step::Advance),
            6 => (any::<usize>(), end).prop_map(|(claim, end)| Step::Record(claim, end)),
            2 => any::<usize>().prop_map(Step::Release),
            1 => any::<usize>().prop_map(Step::Renew),
            2 => any::<usize>().prop_map(Step::Requeue),
            1 => any::<usize>().prop_map(Step::Discard),
            1 => any::<usize>().prop_map(Step::Cancel),
        ]
        .boxed()
    }

    fn apply(mut model: Model, step: &Step) -> Model {
        model.answer = model.step(step);
        model
    }
}

impl Model {
    fn step(&mut self, step: &Step) -> Answer {
        let now = self.now;
        match step {
            Step::Send => {
                self.rows.push(Row {
                    status: Status::Pending,
                    attempts: 0,
                    generation: 0,
                    due: now,
                    leased_until: 0,
                    claims: 0,
                    token: None,
                    on_record: 0,
                });
                Answer::Nothing
            }
            Step::Advance(seconds) => {
                self.now += u64::from(*seconds);
                Answer::Nothing
            }
            Step::Claim(n) => self.claim(usize::from(*n)),
            Step::Record(claim, end) => self.record(*claim, *end),
            Step::Release(claim) => {
                if let Some(row) = self.held(*claim) {
                    row.claims -= 1;
                    row.token = None;
                    row.leased_until = 0;
                }
                Answer::Nothing
            }
            Step::Renew(claim) => match self.held(*claim) {
                Some(row) => {
                    row.leased_until = now + LEASE.as_secs();
                    Answer::Held(true)
                }
                None => Answer::Held(false),
            },
            Step::Requeue(row) => self.act(*row, Change::Requeue, |row| {
                (row.attempts, row.claims, row.token) = (0, 0, None);
                row.leased_until = 0;
                row.generation += 1;
                row.due = now;
            }),
            Step::Discard(row) => self.act(*row, Change::Discard, |_| ()),
            Step::Cancel(row) => self.act(*row, Change::Cancel, |_| ()),
        }
    }

    fn claim(&mut self, n: usize) -> Answer {
        let mut due: Vec<usize> = (0..self.rows.len())
            .filter(|i| self.rows[*i].waits() && self.rows[*i].next() <= self.now)
            .collect();
        due.sort_by_key(|i| (self.rows[*i].due, *i));
        due.truncate(n);
        let mut given = vec![];
        for i in due {
            let row = &mut self.rows[i];
            if row.token.is_some() {
                row.attempts += 1;
                row.status = Status::Retrying;
            }
            given.push((i, row.attempts, row.claims));
            row.claims += 1;
            row.leased_until = self.now + LEASE.as_secs();
            row.token = Some(self.claims.len());
            self.claims.push(Claim {
                row: i,
                recorded: false,
            });
        }
        Answer::Claimed(given)
    }

    /// The row, if the claim still holds it.
    fn held(&mut self, claim: usize) -> Option<&mut Row> {
        let claim = claim.checked_rem(self.claims.len())?;
        let row = &mut self.rows[self.claims[claim].row];
        (row.waits() && row.token == Some(claim)).then_some(row)
    }

    fn record(&mut self, claim: usize, end: End) -> Answer {
        let Some(number) = claim.checked_rem(self.claims.len()) else {
            return Answer::Nothing;
        };
        let now = self.now;
        if let Some(row) = self.held(number) {
            row.on_record += 1;
            match end {
                End::Wait => row.claims -= 1,
                End::Retry(after) => {
                    row.change(Change::Retry);
                    (row.attempts, row.claims) = (row.attempts + 1, 0);
                    row.due = now + u64::from(after);
                }
                End::Delivered | End::Park => {
                    row.attempts += 1;
                    row.change(if matches!(end, End::Park) {
                        Change::Park
                    } else {
                        Change::Deliver
                    });
                }
            }
            row.token = None;
            row.leased_until = 0;
            self.claims[number].recorded = true;
            return Answer::Recorded(Recorded::Done);
        }
        if std::mem::replace(&mut self.claims[number].recorded, true) {
            return Answer::Recorded(Recorded::AlreadyRecorded);
        }
        let row = &mut self.rows[self.claims[number].row];
        row.on_record += 1;
        let completed = matches!(end, End::Delivered) && row.change(Change::DeliverLate) == Acted::Done;
        if completed {
            row.attempts = row.attempts.max(1);
        }
        Answer::Recorded(Recorded::LostLease { completed })
    }

    fn act(&mut self, row: usize, change: Change, then: impl Fn(&mut Row)) -> Answer {
        let Some(i) = row.checked_rem(self.rows.len()) else {
            return Answer::Nothing;
        };
        let acted = self.rows[i].change(change);
        if acted == Acted::Done {
            then(&mut self.rows[i]);
        }
        Answer::Acted(acted)
    }
}

/// The store under the same steps, in a lane of its own.
struct Real<'a> {
    t: &'a TestStore,
    lane: LaneId,
    start: Timestamp,
    ids: Vec<NotificationId>,
    claims: Vec<Claimed>,
}

impl Real<'_> {
    async fn step(&mut self, step: &Step) -> Answer {
        let (t, store) = (self.t, &self.t.store);
        match step {
            Step::Send => {
                self.ids.push(t.send(self.lane).await);
                Answer::Nothing
            }
            Step::Advance(seconds) => {
                t.clock.advance(Duration::from_secs(u64::from(*seconds)));
                Answer::Nothing
            }
            Step::Claim(n) => {
                let want = LaneWant {
                    lane: self.lane,
                    n: u32::from(*n),
                };
                let claims = store.claim_due(&[want], LeaseToken::mint(), LEASE).await.unwrap();
                let given = claims.rows.iter().map(|row| {
                    let i = self.ids.iter().position(|id| *id == row.id).unwrap();
                    (i, row.attempts, row.interruptions)
                });
                let answer = Answer::Claimed(given.collect());
                self.claims.extend(claims.rows);
                answer
            }
            Step::Record(claim, end) => match self.claim(*claim) {
                Some(claim) => Answer::Recorded(t.record(attempt(claim, *end)).await),
                None => Answer::Nothing,
            },
            Step::Release(claim) => {
                if let Some(claim) = self.claim(*claim) {
                    store.release(&[claim.lease]).await.unwrap();
                }
                Answer::Nothing
            }
            Step::Renew(claim) => match self.claim(*claim) {
                Some(claim) => Answer::Held(!store.renew(&[claim.lease], LEASE).await.unwrap().is_empty()),
                None => Answer::Held(false),
            },
            Step::Requeue(row) => match self.id(*row) {
                Some(id) => {
                    let acted = store.requeue(TENANT, &[(id, self.lane)], &admin()).await.unwrap();
                    Answer::Acted(acted[0])
                }
                None => Answer::Nothing,
            },
            Step::Discard(row) => match self.id(*row) {
                Some(id) => Answer::Acted(store.discard(TENANT, &[id], &admin()).await.unwrap()[0]),
                None => Answer::Nothing,
            },
            Step::Cancel(row) => match self.id(*row) {
                Some(id) => Answer::Acted(store.cancel(TENANT, id, &admin()).await.unwrap()),
                None => Answer::Nothing,
            },
        }
    }

    fn claim(&self, n: usize) -> Option<&Claimed> {
        n.checked_rem(self.claims.len()).map(|n| &self.claims[n])
    }

    fn id(&self, n: usize) -> Option<NotificationId> {
        n.checked_rem(self.ids.len()).map(|n| self.ids[n])
    }

    async fn agrees_with(&self, model: &Model) {
        for (id, row) in self.ids.iter().zip(&model.rows) {
            let real = self.t.get(*id).await;
            assert_eq!(real.status, row.status, "{row:?}");
            assert_eq!(
                (real.retry_count, real.generation),
                (row.attempts, row.generation),
                "{row:?}"
            );
            let due = row.waits().then(|| self.start + Duration::from_secs(row.next()));
            assert_eq!(real.next_attempt_at, due, "{row:?}");
            let log = self.t.store.attempts(TENANT, *id).await.unwrap().unwrap();
            let attempts = log
                .iter()
                .filter(|entry| entry.detail.as_deref() == Some("250 ok"));
            let attempts = attempts.filter(|entry| entry.status == domain::AuditStatus::Attempted);
            assert_eq!(
                attempts.count(),
                row.on_record,
                "each result is on record once: {row:?}"
            );
        }
        assert_eq!(self.t.clock.now(), self.start + Duration::from_secs(model.now));
    }
}

fn attempt(claim: &Claimed, end: End) -> AttemptRecord {
    match end {
        End::Delivered => delivered(claim),
        End::Retry(after) => retry(claim, Duration::from_secs(u64::from(after))),
        End::Wait => wait(claim),
        End::Park => park(claim),
    }
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
            let mut real = Real {
                t,
                lane: t.lane(&name).await,
                start: t.clock.now(),
                ids: vec![],
                claims: vec![],
            };
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
