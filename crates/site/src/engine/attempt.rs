//! One attempt, from the handler's answer to the line in the file.

use super::{Engine, health::Change, verdict};
use crate::{
    handler::{Delivered, Failed},
    payload::CORRUPT_PAYLOAD,
};
use domain::{Failure, Scope, retry};
use futures_util::FutureExt;
use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};
use store::buffer::{Attempted, Count, Message, Recorded, Step};
use tracing::{debug, error, info, warn};

/// What an attempt came to.
#[derive(Debug)]
pub struct Tried {
    pub step: Step,
    /// None when the file could not be written before the agent had to stop.
    pub recorded: Option<Recorded>,
    pub answer: Result<Delivered, Failed>,
    /// False where the lease was lost before anything was sent.
    pub begun: bool,
}

impl Engine {
    /// A try of the sweep.
    pub(super) async fn try_one(&self, message: Message) -> Tried {
        self.attempt(message, Count::Try).await
    }

    /// The immediate attempt. Runs to its end whether or not the caller waits for it.
    pub async fn try_now(&self, message: Message) -> Tried {
        self.apart(message, Count::Immediate).await
    }

    /// A try that somebody asked for; as above.
    pub(super) async fn try_to_the_end(&self, message: Message) -> Tried {
        self.apart(message, Count::Try).await
    }

    async fn apart(&self, message: Message, count: Count) -> Tried {
        let engine = self.clone();
        let attempt = self
            .tasks
            .spawn(async move { engine.attempt(message, count).await });
        match attempt.await {
            Ok(tried) => tried,
            Err(_) => Tried {
                step: Step::Released,
                recorded: None,
                answer: Err(stopping()),
                begun: true,
            },
        }
    }

    async fn attempt(&self, message: Message, count: Count) -> Tried {
        let (started_at, clock) = (self.clock.now(), Instant::now());
        // Until the network is done with it.
        let leave = self.pair.get().map(|pair| pair.begin_attempt(message.seq));
        let begun = !matches!(leave, Some(None));
        let answer = match begun {
            true => self.ask_while_leased(&message).await,
            false => None,
        };
        drop(leave);
        let took = clock.elapsed();
        let now = self.clock.now();
        let step = match &answer {
            Some(Ok(_)) => Step::Delivered,
            Some(Err(failed)) => {
                verdict::step(&message, &failed.failure, count, now.since(message.created_at))
            }
            None => Step::Released,
        };
        let down = answer
            .as_ref()
            .is_some_and(|answer| self.learn(&message, count, answer));
        let failed = answer.as_ref().and_then(|answer| answer.as_ref().err());
        let said = AttemptLog {
            code: failed.map(|failed| failed.failure.code.as_ref()),
            took,
            down,
        };
        say(&message, &step, said);
        let answer = answer.unwrap_or_else(|| Err(self.let_go()));
        let http_status = match &answer {
            Ok(delivered) => delivered.http_status,
            Err(failed) => failed.http_status,
        };
        let attempted = Attempted {
            ticket: message.ticket(),
            step: step.clone(),
            started_at,
            took,
            http_status,
        };
        let recorded = self.write_down(&message, attempted).await;
        Tried {
            step,
            recorded,
            answer,
            begun,
        }
    }

    /// Why an attempt was not made, or not to its end.
    fn let_go(&self) -> Failed {
        let held = self.pair.get().and_then(|pair| pair.held());
        match held {
            Some(why) if !self.hard.is_cancelled() => Failure::transient(Scope::Lane, "HELD", why).into(),
            _ => stopping(),
        }
    }

    /// None where the attempt was let go in the middle.
    async fn ask_while_leased(&self, message: &Message) -> Option<Result<Delivered, Failed>> {
        let why = tokio::select! {
            // The lease first: a machine that was stopped in the middle finds both its end and a connection that is there.
            biased;
            () = self.lease_ends(message) => "the lease has ended",
            answer = self.while_allowed(message) => match answer {
                Some(answer) => return Some(answer),
                None => "the lease has ended",
            },
            () = self.hard.cancelled() => "the agent has to stop",
        };
        warn!(message.id = %message.id, target = message.target, reason = why, "an attempt was let go of in the middle; the far end may have it, and it is made again");
        None
    }

    /// The handler's answer; none where the lease has ended in between. The clocks are looked at before each step that the handler
    /// takes, so before each write to the network: a timer tells late what ended while the process stood still.
    async fn while_allowed(&self, message: &Message) -> Option<Result<Delivered, Failed>> {
        let Some(pair) = self.pair.get() else {
            return Some(self.ask(message).await);
        };
        let mut asked = pin!(self.ask(message));
        poll_fn(|cx| match pair.may_go_on(message.seq) {
            true => asked.as_mut().poll(cx).map(Some),
            false => Poll::Ready(None),
        })
        .await
    }

    /// Whatever becomes of the attempt: from then on the other machine may make it.
    async fn lease_ends(&self, message: &Message) {
        match self.pair.get() {
            Some(pair) => pair.attempt_must_end(message.seq).await,
            None => std::future::pending().await,
        }
    }

    /// What the answer says about the target as a whole; whether it is down. Said once when that changes.
    fn learn(&self, message: &Message, count: Count, answer: &Result<Delivered, Failed>) -> bool {
        let target = (message.category, message.target.clone());
        let now = self.clock.now();
        let (change, down) = {
            let mut lanes = self.lock();
            if answer.is_ok() && !lanes.health.contains_key(&target) {
                return false;
            }
            let health = lanes.health.entry(target).or_default();
            let change = health.learn(message, count, answer, self.full_width(), now);
            (change, health.down().is_some())
        };
        let (category, target) = (message.category, &message.target);
        match change {
            Some(Change::WentDown(down)) => {
                warn!(
                    category = %category, target, retry.at = %down.next_try_at, code = down.code,
                    "the target does not answer; one message asks it from time to time, the others wait uncounted"
                );
            }
            Some(Change::CameBack { since }) => {
                let down_ms = now.since(since).as_millis() as u64;
                info!(category = %category, target, duration_ms = down_ms, "the target answers again; what waits is sent");
                self.buffer.wake().look_again();
            }
            None => {}
        }
        down
    }

    /// The handler's answer, in time and without its panics.
    async fn ask(&self, message: &Message) -> Result<Delivered, Failed> {
        if let Some(why) = &message.damaged {
            return Err(Failure::permanent(Scope::Message, CORRUPT_PAYLOAD, why.as_str()).into());
        }
        let Some(handler) = self.handlers.get(message.category, &message.target) else {
            let why = format!("nobody delivers {} to {:?}", message.category, message.target);
            return Err(Failure::transient(Scope::Lane, "NO_HANDLER", why).into());
        };
        let delivery = AssertUnwindSafe(handler.deliver(message)).catch_unwind();
        match tokio::time::timeout(self.settings.attempt_timeout, delivery).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                error!(message.id = %message.id, target = message.target, "a handler broke; the attempt counts as failed");
                Err(Failure::ambiguous(Scope::Message, "INTERNAL", "the handler broke").into())
            }
            Err(_) => Err(Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer in time").into()),
        }
    }

    /// Keeps asking until the file takes it: what happened has happened. Gives up only when the agent has to stop;
    /// the attempt then counts as interrupted at the next start.
    async fn write_down(&self, message: &Message, attempted: Attempted) -> Option<Recorded> {
        let mut wait = Duration::from_millis(50);
        loop {
            match self.buffer.record(vec![attempted.clone()]).await {
                Ok(recorded) => {
                    if recorded.first() == Some(&Recorded::Lost) {
                        warn!(message.id = %message.id, target = message.target, "somebody acted on the message during its attempt; the attempt's result changes nothing");
                    }
                    return recorded.first().copied();
                }
                Err(e) => {
                    warn!(message.id = %message.id, error = &e as &dyn std::error::Error, "the result of an attempt cannot be written; trying again");
                }
            }
            tokio::select! {
                biased;
                () = self.hard.cancelled() => return None,
                () = tokio::time::sleep(wait) => wait = retry::slower(wait),
            }
        }
    }
}

fn stopping() -> Failed {
    Failure::transient(Scope::Lane, "STOPPING", "the agent is stopping").into()
}

/// What is said of an attempt in the log.
struct AttemptLog<'a> {
    /// The code alone: the far end's own words may repeat what it was sent. They are kept with the message.
    code: Option<&'a str>,
    took: Duration,
    /// That the target does not answer has been said, and is not said again for every message.
    down: bool,
}

fn say(message: &Message, step: &Step, said: AttemptLog<'_>) {
    let (id, target, code) = (message.id, &message.target, said.code);
    let duration_ms = said.took.as_millis() as u64;
    let counted = match step {
        Step::Delivered => "delivered",
        Step::Retry { after, .. } if said.down => {
            debug!(message.id = %id, target, duration_ms, retry.after_ms = after.as_millis() as u64, code, "delivery failed, will retry");
            "retried"
        }
        Step::Retry { after, .. } => {
            info!(message.id = %id, target, duration_ms, retry.after_ms = after.as_millis() as u64, code, "delivery failed, will retry");
            "retried"
        }
        Step::Park { .. } => {
            warn!(message.id = %id, target, duration_ms, code, "parked: it is not tried again until somebody says so");
            "parked"
        }
        Step::Failed { .. } => {
            info!(message.id = %id, target, duration_ms, code, "refused for good; nothing was buffered");
            "failed"
        }
        Step::Released => "released",
    };
    metrics::counter!("waypost_site_attempts_total", "category" => message.category.as_str(), "outcome" => counted)
        .increment(1);
}
