//! Whether a target answers at all. While it does not, one message asks it from time to time (the probe) and the
//! others wait. Waiting is no try: a budget counts the attempts that were made.
//!
//! Leaves to others: how many failures make a target "down" and how often it is probed (`domain::retry`).

use crate::handler::{Delivered, Failed};
use domain::{FailureKind, Timestamp, retry};
use std::time::Duration;
use store::buffer::{Count, Message, MessageId};

/// What a target's last answers come to.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Attempts in a row that the target did not answer, and those that went wrong in any way that may pass.
    unanswered: u32,
    troubled: u32,
    /// Some of the messages they were about.
    rows: Vec<MessageId>,
    down: Option<Down>,
}

/// A target that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Down {
    pub since: Timestamp,
    /// The last failure: its code, and in words.
    pub code: String,
    pub why: String,
    /// When the next probe is made.
    pub next_try_at: Timestamp,
    /// The shortest retry interval among the messages that failed.
    interval: Duration,
    /// Messages of a probe.
    width: usize,
}

/// What an attempt changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    WentDown(Down),
    CameBack { since: Timestamp },
}

/// What an answer says about the target as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// It is there, whatever it thinks of the message.
    Answers,
    /// Nobody is there, or only somebody who sends everybody away.
    Unanswered,
    /// It may be the message or the target.
    Troubled,
    /// It was not asked.
    Nothing,
}

/// Failures of our own: the target was not asked.
const NOT_ASKED: [&str; 2] = ["CORRUPT_PAYLOAD", "BAD_CALL"];

fn evidence(answer: &Result<Delivered, Failed>) -> Evidence {
    let Err(failed) = answer else {
        return Evidence::Answers;
    };
    let failure = &failed.failure;
    match (failure.kind, failed.http_status) {
        (FailureKind::Permanent, _) if NOT_ASKED.contains(&failure.code.as_ref()) => Evidence::Nothing,
        (FailureKind::Permanent, _) => Evidence::Answers,
        (_, Some(429 | 502..=504)) => Evidence::Unanswered,
        _ if failure.is_lane_down() => Evidence::Unanswered,
        _ => Evidence::Troubled,
    }
}

impl Health {
    pub(super) fn down(&self) -> Option<&Down> {
        self.down.as_ref()
    }

    /// How many may be tried at once now; 0 until the next probe.
    pub(super) fn width(&self, full: usize, now: Timestamp) -> usize {
        match &self.down {
            None => full,
            Some(down) if down.next_try_at <= now => down.width.min(full),
            Some(_) => 0,
        }
    }

    /// A probe begins; the next one comes after it.
    pub(super) fn probing(&mut self, now: Timestamp) {
        if let Some(down) = &mut self.down {
            down.next_try_at = now + down.interval;
        }
    }

    /// The clock was set back: nothing is further ahead than it may be.
    pub(super) fn clock_went_back(&mut self, now: Timestamp) {
        if let Some(down) = &mut self.down {
            down.next_try_at = down.next_try_at.min(now + down.interval);
        }
    }

    /// Takes in what an attempt came to. `full`: how many are tried at once when all is well.
    pub(super) fn learn(
        &mut self,
        message: &Message,
        count: Count,
        answer: &Result<Delivered, Failed>,
        full: usize,
        now: Timestamp,
    ) -> Option<Change> {
        match evidence(answer) {
            Evidence::Nothing => return None,
            Evidence::Answers => {
                let before = std::mem::take(self);
                return before.down.map(|down| Change::CameBack { since: down.since });
            }
            Evidence::Unanswered => self.unanswered = self.unanswered.saturating_add(1),
            Evidence::Troubled => {}
        }
        self.troubled = self.troubled.saturating_add(1);
        if self.rows.len() < retry::DOWN_AFTER_ROWS && !self.rows.contains(&message.id) {
            self.rows.push(message.id);
        }
        let Err(Failed { failure, .. }) = answer else {
            return None;
        };
        let (code, why, asked) = (
            failure.code.to_string(),
            super::words(failure),
            failure.retry_after,
        );
        if let Some(down) = &mut self.down {
            down.interval = down.interval.min(message.retry_interval);
            (down.code, down.why) = (code, why);
            // Immediate attempts come as callers do; they must not put the probe off for ever.
            let wait = match count {
                Count::Try => retry::probe_target(down.interval, asked),
                _ => asked.map_or(Duration::ZERO, |asked| {
                    retry::probe_target(Duration::ZERO, Some(asked))
                }),
            };
            down.next_try_at = down.next_try_at.max(now + wait);
            return None;
        }
        let unanswered = self.unanswered >= retry::DOWN_AFTER_FAILURES;
        let down = (unanswered || self.troubled >= retry::DOWN_AFTER_TROUBLES)
            && self.rows.len() >= retry::DOWN_AFTER_ROWS;
        if !down {
            return None;
        }
        let interval = message.retry_interval;
        let down = Down {
            since: now,
            code,
            why,
            next_try_at: now + retry::probe_target(interval, asked),
            interval,
            // Where it may be the messages after all, more than one is asked about.
            width: if unanswered { 1 } else { full },
        };
        self.down = Some(down.clone());
        Some(Change::WentDown(down))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::a_message::a_message;
    use domain::{Failure, Scope};

    const FULL: usize = 8;

    fn failed(scope: Scope, http_status: Option<u16>) -> Result<Delivered, Failed> {
        let failure = Failure::transient(scope, "X", "no");
        Err(Failed { failure, http_status })
    }

    fn after(attempts: impl IntoIterator<Item = (u128, Result<Delivered, Failed>)>) -> Health {
        let mut health = Health::default();
        for (n, answer) in attempts {
            health.learn(&a_message(n), Count::Try, &answer, FULL, Timestamp::EPOCH);
        }
        health
    }

    #[test]
    fn five_unanswered_attempts_over_three_messages_are_a_target_that_is_down() {
        let silent = || failed(Scope::Lane, None);
        assert!(after((0..4).map(|n| (n, silent()))).down.is_none());
        assert!(after((0..20).map(|n| (n % 2, silent()))).down.is_none());
        let down = after((0..5).map(|n| (n % 3, silent())));
        assert_eq!(down.width(FULL, Timestamp::EPOCH), 0);
        assert_eq!(down.width(FULL, Timestamp::from_millis(30_000)), 1);
        let busy = || failed(Scope::Message, Some(503));
        assert!(after((0..5).map(|n| (n, busy()))).down.is_some());
    }

    #[test]
    fn a_target_that_refuses_messages_or_answers_in_between_is_not_down() {
        let silent = || failed(Scope::Lane, None);
        let refused = || Err(Failure::permanent(Scope::Message, "HTTP_400", "no").into());
        let mixed = (0..100).map(|n| (n, if n % 4 == 0 { refused() } else { silent() }));
        assert!(after(mixed).down.is_none());
    }

    #[test]
    fn many_messages_in_trouble_are_a_target_in_trouble_and_it_is_asked_about_several() {
        let trouble = || failed(Scope::Message, Some(500));
        assert!(after((0..49).map(|n| (n, trouble()))).down.is_none());
        let down = after((0..50).map(|n| (n, trouble())));
        assert_eq!(down.width(FULL, Timestamp::from_millis(30_000)), FULL);
    }

    #[test]
    fn a_probe_in_vain_puts_the_next_one_off_and_an_answer_ends_it() {
        let mut health = after((0..5).map(|n| (n, failed(Scope::Lane, None))));
        let later = Timestamp::from_millis(30_000);
        let mut asked = failed(Scope::Lane, None);
        if let Err(failed) = &mut asked {
            failed.failure.retry_after = Some(Duration::from_secs(600));
        }
        assert_eq!(health.learn(&a_message(9), Count::Try, &asked, FULL, later), None);
        assert_eq!(health.width(FULL, Timestamp::from_millis(629_000)), 0);
        assert_eq!(health.width(FULL, Timestamp::from_millis(630_000)), 1);
        let back = health.learn(&a_message(9), Count::Try, &Ok(Delivered::default()), FULL, later);
        assert_eq!(
            back,
            Some(Change::CameBack {
                since: Timestamp::EPOCH
            })
        );
        assert_eq!(health.width(FULL, later), FULL);
    }
}
