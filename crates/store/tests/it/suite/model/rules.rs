//! The rules of claims, records and operators.

use super::{
    Answer, End, Step,
    receipts::{Known, WaitingReceipt},
};
use crate::harness::*;
use domain::{ReceiptState, Status, status::Change};
use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;
use store::{operator::Acted, outbox::Recorded};

#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Seconds since the start.
    pub now: u64,
    pub rows: Vec<Row>,
    claims: Vec<Claim>,
    pub inbox: Vec<WaitingReceipt>,
    pub answer: Answer,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub status: Status,
    pub attempts: u32,
    pub generation: i32,
    due: u64,
    /// 0 when nobody is sending it.
    pub leased_until: u64,
    claims: u32,
    /// The claim that holds it, or held it last.
    token: Option<usize>,
    pub on_record: usize,
    /// What is shown of receipts beside its status.
    pub shown: Option<ReceiptState>,
    /// What was told of its recipient while it was being sent.
    pub recipient: Option<Known>,
}

#[derive(Debug, Clone)]
struct Claim {
    row: usize,
    recorded: bool,
}

impl Row {
    /// When it can be claimed.
    pub fn next(&self) -> u64 {
        self.due.max(self.leased_until)
    }

    pub fn waits(&self) -> bool {
        !self.status.is_terminal()
    }

    pub fn change(&mut self, change: Change) -> Acted {
        match self.status.apply(change) {
            Ok(status) => {
                self.status = status;
                Acted::Done
            }
            Err(_) => Acted::WrongState(self.status),
        }
    }
}

pub(super) struct Rules;

impl ReferenceStateMachine for Rules {
    type State = Model;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model {
            now: 0,
            rows: vec![],
            claims: vec![],
            inbox: vec![],
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
            Just(End::Suppress),
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
            5 => (any::<usize>(), 0u8..2, proptest::sample::select(&ReceiptState::ALL[..]))
                .prop_map(|(row, before, state)| Step::Tell(row, before, state)),
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
                    shown: None,
                    recipient: None,
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
                row.shown = None;
                row.due = now;
            }),
            Step::Discard(row) => self.act(*row, Change::Discard, |_| ()),
            Step::Cancel(row) => self.act(*row, Change::Cancel, |_| ()),
            Step::Tell(row, before, state) => {
                self.tell(*row, *before, *state);
                Answer::Nothing
            }
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
                End::Delivered | End::Park | End::Suppress => {
                    row.attempts += 1;
                    row.change(match end {
                        End::Park => Change::Park,
                        End::Suppress => Change::Suppress,
                        _ => Change::Deliver,
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
