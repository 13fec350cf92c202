//! Any history of sends, attempts, acknowledgements that arrive or do not, operators and crashes, against a model of
//! the buffer in a few lines: a message waits, is parked, or has ended; what names an attempt counts if the message
//! is still where that attempt left it.

use crate::harness::{a_message, identity};
use domain::{
    Actor, Clock, ManualClock, Timestamp, TrackedOperationId,
    retry::INTERRUPTIONS_BEFORE_PARK,
    site::{Category, OperationStatus},
};
use futures_util::FutureExt;
use proptest::{prelude::*, test_runner::Config};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use std::{path::PathBuf, sync::Arc, time::Duration};
use store::{
    Buffer,
    buffer::{
        Acted, Attempted, Count, End as Ended, Enqueued, Handed, MessageId, MessageStatus, NewMessage,
        Options, Recorded, Start, Step as Outcome, Ticket,
    },
};

const REMEMBERED: u64 = 900;

/// What can happen. Numbers name a message or an attempt, counted round.
#[derive(Debug, Clone)]
enum Step {
    Send(Category, Start),
    SendAgain(usize),
    Claim(u8),
    Record(usize, End),
    Forward(u8, Link),
    /// An acknowledgement of a database met before the last one.
    StaleAck,
    Requeue(usize),
    Discard(usize),
    Advance(u16),
    NewCentral,
    Forget,
    /// The process ends; the next one finds the files as they are.
    Crash,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Delivered,
    Retry(u8),
    Refused,
    Released,
}

#[derive(Debug, Clone, Copy)]
enum Link {
    Acked,
    AckLost,
    FirstRefused,
}

#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Nothing,
    Known {
        buffered: bool,
        status: Option<OperationStatus>,
    },
    Claimed(Vec<usize>),
    Recorded(Recorded),
    Forwarded(Vec<usize>),
    HandedOver(bool),
    Acted(Acted),
    Restored(u64),
}

#[derive(Debug, Clone)]
struct Row {
    category: Category,
    place: Place,
    tries: u32,
    due: u64,
    attempts: i64,
    begun: bool,
    immediate: bool,
    interruptions: u32,
    tracked: OperationStatus,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Waits,
    Parked,
    /// Central has it; its content is still here.
    Acked {
        at: u64,
    },
    Delivered,
    Failed,
    Discarded,
}

#[derive(Debug, Clone)]
struct Model {
    /// Seconds since the start.
    now: u64,
    rows: Vec<Row>,
    /// Row and number of each attempt ever begun.
    attempts: Vec<(usize, i64)>,
    central: u32,
    answer: Answer,
}

#[derive(Debug)]
struct Rules;

impl ReferenceStateMachine for Rules {
    type State = Model;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model {
            now: 0,
            rows: vec![],
            attempts: vec![],
            central: 0,
            answer: Answer::Nothing,
        })
        .boxed()
    }

    fn transitions(_: &Model) -> BoxedStrategy<Step> {
        let end = prop_oneof![
            2 => Just(End::Delivered),
            3 => (0u8..90).prop_map(End::Retry),
            1 => Just(End::Refused),
            1 => Just(End::Released),
        ];
        let link = prop_oneof![Just(Link::Acked), Just(Link::AckLost), Just(Link::FirstRefused)];
        prop_oneof![
            3 => Just(Step::Send(Category::Notification, Start::Queued)),
            2 => Just(Step::Send(Category::ExternalSystem, Start::Queued)),
            2 => Just(Step::Send(Category::ExternalSystem, Start::Attempted)),
            1 => any::<usize>().prop_map(Step::SendAgain),
            4 => (1u8..4).prop_map(Step::Claim),
            6 => (any::<usize>(), end).prop_map(|(attempt, end)| Step::Record(attempt, end)),
            4 => (1u8..4, link).prop_map(|(n, link)| Step::Forward(n, link)),
            1 => Just(Step::StaleAck),
            2 => any::<usize>().prop_map(Step::Requeue),
            2 => any::<usize>().prop_map(Step::Discard),
            3 => (1u16..600).prop_map(Step::Advance),
            1 => Just(Step::NewCentral),
            1 => Just(Step::Forget),
            2 => Just(Step::Crash),
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
            Step::Send(category, start) => {
                let begun = *start == Start::Attempted;
                self.rows.push(Row {
                    category: *category,
                    place: Place::Waits,
                    tries: 0,
                    due: now,
                    attempts: i64::from(begun),
                    begun,
                    immediate: begun,
                    interruptions: 0,
                    tracked: OperationStatus::Submitted,
                });
                if begun {
                    self.attempts.push((self.rows.len() - 1, 1));
                }
                Answer::Nothing
            }
            Step::SendAgain(row) => self.known(*row),
            Step::Claim(n) => self.claim(usize::from(*n)),
            Step::Record(attempt, end) => self.record(*attempt, *end),
            Step::Forward(n, link) => self.forward(usize::from(*n), *link),
            Step::StaleAck => Answer::HandedOver(false),
            Step::Requeue(row) => self.act(*row, |row| {
                (row.place, row.tries, row.interruptions, row.due) = (Place::Waits, 0, 0, now);
                row.tracked = OperationStatus::Retrying;
            }),
            Step::Discard(row) => self.act(*row, |row| {
                (row.place, row.tracked) = (Place::Discarded, OperationStatus::Discarded);
            }),
            Step::Advance(seconds) => {
                self.now += u64::from(*seconds);
                Answer::Nothing
            }
            Step::NewCentral => {
                self.central += 1;
                let mut restored = 0;
                for row in &mut self.rows {
                    if let Place::Acked { .. } = row.place {
                        (row.place, row.due, row.tries) = (Place::Waits, now, 0);
                        restored += 1;
                    }
                }
                Answer::Restored(restored)
            }
            Step::Forget => {
                for row in &mut self.rows {
                    if let Place::Acked { at } = row.place
                        && at + REMEMBERED < now
                    {
                        row.place = Place::Delivered;
                    }
                }
                Answer::Nothing
            }
            Step::Crash => {
                for row in self.rows.iter_mut().filter(|row| row.begun) {
                    row.begun = false;
                    row.tries += u32::from(!row.immediate);
                    row.immediate = false;
                    if row.interruptions + 1 >= INTERRUPTIONS_BEFORE_PARK {
                        (row.place, row.tracked) = (Place::Parked, OperationStatus::Parked);
                    } else {
                        row.interruptions += 1;
                        (row.due, row.tracked) = (now, OperationStatus::Retrying);
                    }
                }
                Answer::Nothing
            }
        }
    }

    fn known(&self, row: usize) -> Answer {
        let Some(i) = row.checked_rem(self.rows.len()) else {
            return Answer::Nothing;
        };
        let row = &self.rows[i];
        let buffered = matches!(row.place, Place::Waits | Place::Parked);
        match row.category {
            Category::Notification => match row.place {
                // Nobody could send it again if central had lost it: it is taken in again. Not played here.
                Place::Delivered => Answer::Nothing,
                Place::Acked { .. } => Answer::Known {
                    buffered,
                    status: Some(OperationStatus::Delivered),
                },
                Place::Discarded => Answer::Known {
                    buffered,
                    status: Some(OperationStatus::Discarded),
                },
                Place::Parked => Answer::Known {
                    buffered,
                    status: Some(OperationStatus::Parked),
                },
                _ => Answer::Known {
                    buffered,
                    status: None,
                },
            },
            _ => Answer::Known {
                buffered,
                status: Some(row.tracked),
            },
        }
    }

    fn claim(&mut self, n: usize) -> Answer {
        let mut due: Vec<usize> = (0..self.rows.len())
            .filter(|i| {
                let row = &self.rows[*i];
                row.category != Category::Notification
                    && row.place == Place::Waits
                    && !row.begun
                    && row.due <= self.now
            })
            .collect();
        due.sort_by_key(|i| (self.rows[*i].due, *i));
        due.truncate(n);
        for i in &due {
            let row = &mut self.rows[*i];
            row.attempts += 1;
            row.begun = true;
            self.attempts.push((*i, row.attempts));
        }
        due.sort_unstable();
        Answer::Claimed(due)
    }

    fn record(&mut self, attempt: usize, end: End) -> Answer {
        let Some(n) = attempt.checked_rem(self.attempts.len()) else {
            return Answer::Nothing;
        };
        let (row, number) = self.attempts[n];
        let now = self.now;
        let row = &mut self.rows[row];
        if !row.begun || row.attempts != number {
            return Answer::Recorded(Recorded::Lost);
        }
        row.begun = false;
        let immediate = std::mem::replace(&mut row.immediate, false);
        match end {
            End::Delivered => row.place = Place::Delivered,
            End::Retry(after) => {
                row.tries += u32::from(!immediate);
                row.due = now + u64::from(after);
                row.interruptions = 0;
            }
            End::Refused if immediate => row.place = Place::Failed,
            End::Refused => {
                row.tries += 1;
                row.place = Place::Parked;
            }
            End::Released => row.due = now,
        }
        row.tracked = match row.place {
            Place::Waits => OperationStatus::Retrying,
            Place::Parked => OperationStatus::Parked,
            Place::Failed => OperationStatus::Failed,
            _ => OperationStatus::Delivered,
        };
        Answer::Recorded(Recorded::Done)
    }

    fn forward(&mut self, n: usize, link: Link) -> Answer {
        let waiting: Vec<usize> = (0..self.rows.len())
            .filter(|i| {
                self.rows[*i].category == Category::Notification && self.rows[*i].place == Place::Waits
            })
            .take(n)
            .collect();
        for (k, i) in waiting.iter().enumerate() {
            self.rows[*i].place = match link {
                Link::AckLost => Place::Waits,
                Link::FirstRefused if k == 0 => Place::Parked,
                _ => Place::Acked { at: self.now },
            };
        }
        Answer::Forwarded(waiting)
    }

    fn act(&mut self, row: usize, then: impl Fn(&mut Row)) -> Answer {
        let Some(i) = row.checked_rem(self.rows.len()) else {
            return Answer::Nothing;
        };
        Answer::Acted(match self.rows[i].place {
            Place::Parked => {
                then(&mut self.rows[i]);
                Acted::Done
            }
            Place::Waits => Acted::WrongState(MessageStatus::Pending),
            _ => Acted::NotFound,
        })
    }
}

/// The buffer under the same steps.
struct Real {
    folder: tempfile::TempDir,
    /// Each life of the process works on its own copy of the files, as the last one left them.
    lives: u32,
    clock: Arc<ManualClock>,
    start: Timestamp,
    buffer: Option<Buffer>,
    sent: Vec<(NewMessage, i64)>,
    attempts: Vec<(Ticket, bool)>,
    central: u32,
}

fn now<T>(future: impl Future<Output = store::Result<T>>) -> T {
    future
        .now_or_never()
        .expect("an inline buffer does not wait")
        .unwrap()
}

impl Real {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let mut real = Self {
            folder: tempfile::tempdir().unwrap(),
            lives: 0,
            start: clock.now(),
            clock,
            buffer: None,
            sent: vec![],
            attempts: vec![],
            central: 0,
        };
        real.open();
        now(real.buffer().met_central(&identity("0")));
        real
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(format!("life-{}.db", self.lives))
    }

    fn open(&mut self) {
        let options = Options {
            inline: true,
            ..Options::at(self.file())
        };
        self.buffer = Some(Buffer::open(&options, self.clock.clone()).unwrap());
    }

    fn buffer(&self) -> &Buffer {
        self.buffer.as_ref().unwrap()
    }

    /// No orderly end: the files are taken as they are at this moment.
    fn crash(&mut self) {
        let from = self.file();
        self.lives += 1;
        for suffix in ["-wal", ""] {
            let with = |path: &PathBuf| PathBuf::from(format!("{}{suffix}", path.display()));
            if with(&from).exists() {
                std::fs::copy(with(&from), with(&self.file())).unwrap();
            }
        }
        self.buffer = None;
        self.open();
        let ended: Vec<_> = now(self.buffer().interrupted())
            .iter()
            .map(|message| {
                let count = match message.queued_at {
                    Some(_) => Count::Interrupted,
                    None => Count::InterruptedImmediate,
                };
                let error = "INTERRUPTED".to_owned();
                let step = match message.interruptions + 1 >= INTERRUPTIONS_BEFORE_PARK {
                    true => Outcome::Park {
                        error,
                        count,
                        exhausted: true,
                    },
                    false => Outcome::Retry {
                        after: Duration::ZERO,
                        error,
                        count,
                    },
                };
                self.attempted(message.ticket(), step)
            })
            .collect();
        let recorded = now(self.buffer().record(ended));
        assert!(recorded.iter().all(|r| *r == Recorded::Done));
    }

    fn attempted(&self, ticket: Ticket, step: Outcome) -> Attempted {
        Attempted {
            ticket,
            step,
            started_at: self.clock.now(),
            took: Duration::from_millis(5),
            http_status: None,
        }
    }

    fn row_of(&self, id: MessageId) -> usize {
        self.sent.iter().position(|(new, _)| new.id == id).unwrap()
    }

    /// `played`: what the model says, for a step that it leaves out.
    fn step(&mut self, step: &Step, played: &Answer) -> Answer {
        match step {
            Step::Send(category, start) => self.send(*category, *start),
            Step::SendAgain(row) => self.send_again(*row, played),
            Step::Claim(n) => self.claim(*n),
            Step::Record(attempt, end) => self.record(*attempt, end),
            Step::Forward(n, link) => self.forward(u32::from(*n), *link),
            Step::StaleAck => {
                let all = now(self.buffer().forwardable(0, 100, usize::MAX));
                let handed = Handed {
                    acked: all.iter().map(|m| m.seq).collect(),
                    refused: vec![],
                };
                Answer::HandedOver(now(self.buffer().handed_over(&identity("before"), handed)))
            }
            Step::Requeue(row) => match self.id(*row) {
                Some(id) => Answer::Acted(now(self.buffer().requeue(id, &Actor::new("user:a")))),
                None => Answer::Nothing,
            },
            Step::Discard(row) => match self.id(*row) {
                Some(id) => Answer::Acted(now(self.buffer().discard(id, &Actor::new("user:a")))),
                None => Answer::Nothing,
            },
            Step::Advance(seconds) => {
                self.clock.advance(Duration::from_secs(u64::from(*seconds)));
                Answer::Nothing
            }
            Step::NewCentral => {
                self.central += 1;
                let met = identity(&self.central.to_string());
                Answer::Restored(now(self.buffer().met_central(&met)))
            }
            Step::Forget => {
                let before = self.clock.now() - Duration::from_secs(REMEMBERED);
                now(self.buffer().forget_acked(before));
                Answer::Nothing
            }
            Step::Crash => {
                self.crash();
                Answer::Nothing
            }
        }
    }

    fn send(&mut self, category: Category, start: Start) -> Answer {
        let new = a_message(
            category,
            if category == Category::Notification {
                "ops"
            } else {
                "erp"
            },
        );
        let Enqueued::New(ticket) = now(self.buffer().enqueue(new.clone(), start)) else {
            panic!("a new id is new")
        };
        self.sent.push((new, ticket.seq));
        if start == Start::Attempted {
            self.attempts.push((ticket, true));
        }
        Answer::Nothing
    }

    fn send_again(&mut self, row: usize, played: &Answer) -> Answer {
        let Some(i) = row.checked_rem(self.sent.len()) else {
            return Answer::Nothing;
        };
        let new = self.sent[i].0.clone();
        let mut other = new.clone();
        other.content_hash += 1;
        if *played == Answer::Nothing {
            return Answer::Nothing;
        }
        match now(self.buffer().enqueue(other, Start::Queued)) {
            Enqueued::Known(known) => assert!(!known.same_content),
            other => panic!("{other:?}"),
        }
        match now(self.buffer().enqueue(new, Start::Queued)) {
            Enqueued::Known(known) => {
                assert!(known.same_content);
                Answer::Known {
                    buffered: known.buffered,
                    status: known.status,
                }
            }
            other => panic!("{other:?}"),
        }
    }

    fn claim(&mut self, n: u8) -> Answer {
        let claimed = now(self
            .buffer()
            .claim_due(Category::ExternalSystem, "erp", u32::from(n)));
        let mut rows = vec![];
        let mut tickets = vec![];
        for message in &claimed {
            rows.push(self.row_of(message.id));
            tickets.push((message.due_at, message.seq, message.ticket()));
        }
        tickets.sort_by_key(|(due, seq, _)| (*due, *seq));
        self.attempts
            .extend(tickets.into_iter().map(|(_, _, ticket)| (ticket, false)));
        rows.sort_unstable();
        Answer::Claimed(rows)
    }

    fn record(&mut self, attempt: usize, end: &End) -> Answer {
        let Some(n) = attempt.checked_rem(self.attempts.len()) else {
            return Answer::Nothing;
        };
        let (ticket, immediate) = self.attempts[n];
        let count = if immediate { Count::Immediate } else { Count::Try };
        let error = "HTTP_503: busy".to_owned();
        let step = match end {
            End::Delivered => Outcome::Delivered,
            End::Retry(after) => Outcome::Retry {
                after: Duration::from_secs(u64::from(*after)),
                error,
                count,
            },
            End::Refused if immediate => Outcome::Failed { error },
            End::Refused => Outcome::Park {
                error,
                count,
                exhausted: false,
            },
            End::Released => Outcome::Released,
        };
        let attempted = self.attempted(ticket, step);
        Answer::Recorded(now(self.buffer().record(vec![attempted]))[0])
    }

    fn forward(&mut self, n: u32, link: Link) -> Answer {
        let batch = now(self.buffer().forwardable(0, n, usize::MAX));
        let rows = batch.iter().map(|m| self.row_of(m.id)).collect();
        let mut handed = Handed::default();
        for (k, message) in batch.iter().enumerate() {
            match link {
                Link::AckLost => {}
                Link::FirstRefused if k == 0 => handed.refused.push((message.seq, "REFUSED".into())),
                _ => handed.acked.push(message.seq),
            }
        }
        let met = identity(&self.central.to_string());
        assert!(now(self.buffer().handed_over(&met, handed)));
        if !matches!(link, Link::AckLost) {
            let news = now(self.buffer().telemetry(n));
            let heard = news.into_iter().map(|(seq, _)| seq).collect();
            assert!(now(self.buffer().telemetry_heard(&met, heard)));
        }
        Answer::Forwarded(rows)
    }

    fn id(&self, n: usize) -> Option<MessageId> {
        n.checked_rem(self.sent.len()).map(|n| self.sent[n].0.id)
    }

    fn agrees_with(&self, model: &Model) {
        let buffer = self.buffer();
        for ((new, _), row) in self.sent.iter().zip(&model.rows) {
            let real = now(buffer.message(new.id));
            let expected = match row.place {
                Place::Waits => Some(MessageStatus::Pending),
                Place::Parked => Some(MessageStatus::Parked),
                _ => None,
            };
            assert_eq!(real.as_ref().map(|m| m.status), expected, "{row:?}");
            if let Some(real) = &real {
                assert_eq!(real.retry_count, row.tries, "{row:?}");
                assert_eq!(real.payload, new.payload);
            }
            if let (Some(real), Place::Waits, false) = (&real, row.place, row.begun) {
                assert_eq!(real.due_at, self.start + Duration::from_secs(row.due), "{row:?}");
            }
            if new.category == Category::Notification {
                let grave = now(buffer.tombstone(new.id)).map(|t| t.end);
                let expected = match row.place {
                    Place::Acked { .. } | Place::Delivered => Some(Ended::Delivered),
                    Place::Discarded => Some(Ended::Discarded),
                    _ => None,
                };
                assert_eq!(grave, expected, "{row:?}");
            } else {
                let tracking = now(buffer.tracking(TrackedOperationId(new.id.0))).expect("calls are tracked");
                assert_eq!(tracking.status, row.tracked, "{row:?}");
            }
        }
        assert_eq!(buffer.depth(), now(buffer.recount()), "the gauge is the file's");
    }
}

struct Machine;

impl StateMachineTest for Machine {
    type SystemUnderTest = Real;
    type Reference = Rules;

    fn init_test(_: &Model) -> Real {
        Real::new()
    }

    fn apply(mut real: Real, model: &Model, step: Step) -> Real {
        assert_eq!(real.step(&step, &model.answer), model.answer, "{step:?}");
        real.agrees_with(model);
        real
    }
}

fn cases() -> u32 {
    match std::env::var("WAYPOST_TEST_SIZE").as_deref() {
        Ok("soak") => 2_000,
        _ => 48,
    }
}

prop_state_machine! {
    #![proptest_config(Config { cases: cases(), failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() })]

    #[test]
    fn any_history_matches_the_model(sequential 1..60 => Machine);
}
