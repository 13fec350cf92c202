//! The rules of receipts for a notification with one recipient: better news is never taken back by worse, while it is being
//! sent the record comes first, and what was given up for good stays so.

use super::rules::{Model, Row};
use domain::{
    ReceiptState::{self, Accepted, Failed},
    Status,
    retry::receipt_wait,
    status::Change,
};
use std::time::Duration;

/// What is known of the recipient besides what is shown of the row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    has_it: bool,
    generation: i32,
    told: ReceiptState,
}

/// A receipt that waits to be looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingReceipt {
    row: usize,
    generation: i32,
    state: ReceiptState,
    tries: u32,
    /// Since the start.
    next: Duration,
}

impl Model {
    pub(super) fn tell(&mut self, row: usize, before: u8, state: ReceiptState) {
        let Some(row) = row.checked_rem(self.rows.len()) else {
            return;
        };
        let now = Duration::from_secs(self.now);
        let generation = self.rows[row].generation - i32::from(before);
        if generation >= 0 {
            self.inbox.push(WaitingReceipt {
                row,
                generation,
                state,
                tries: 0,
                next: now,
            });
        }
        let (mut due, mut rest): (Vec<WaitingReceipt>, Vec<WaitingReceipt>) =
            self.inbox.drain(..).partition(|told| told.next <= now);
        due.sort_by_key(|told| told.next);
        for mut told in due {
            let row = &mut self.rows[told.row];
            if row.is_told(told.generation, told.state, self.now) {
                told.next = now + receipt_wait(told.tries);
                told.tries += 1;
                rest.push(told);
            }
        }
        self.inbox = rest;
    }
}

impl Row {
    /// Whether it is to be told again, once the attempt under way is recorded.
    fn is_told(&mut self, generation: i32, state: ReceiptState, now: u64) -> bool {
        let leased = self.waits() && self.leased_until > now;
        let known = match self.recipient {
            Some(recipient) => Some(recipient.told),
            None => self.shown,
        };
        if state == Failed {
            return generation == self.generation && self.fails(known, leased);
        }
        let own = |known: Known| known.has_it && known.generation == generation;
        let of_now = generation == self.generation || self.recipient.is_some_and(own);
        match (of_now, state) {
            (true, state) => self.arrives(known, state, leased),
            // That the service had taken it was known when it was sent again.
            (false, Accepted) => {
                self.shows_what_is_known();
                false
            }
            // Of an earlier round: that somebody has it, and no more.
            (false, _) => self.arrives(known, Accepted, leased),
        }
    }

    fn arrives(&mut self, known: Option<ReceiptState>, state: ReceiptState, leased: bool) -> bool {
        let better = known.is_none_or(|known| known < state);
        let taken_back = known == Some(Failed) && !better;
        let settled = matches!(self.status, Status::Delivered | Status::Discarded) && !better;
        if taken_back || settled {
            self.shows_what_is_known();
            return false;
        }
        if self.status == Status::Discarded {
            self.shown = Some(state);
            return false;
        }
        let told = known.map_or(state, |known| known.max(state));
        if leased || self.recipient.is_some() {
            let before = self.recipient.filter(|known| known.has_it);
            self.recipient = Some(Known {
                has_it: true,
                generation: before.map_or(self.generation, |known| known.generation),
                told,
            });
        }
        if leased {
            return true;
        }
        if self.status != Status::Delivered {
            self.change(Change::DeliverLate);
            self.attempts = self.attempts.max(1);
        }
        self.shown = Some(told);
        false
    }

    fn fails(&mut self, known: Option<ReceiptState>, leased: bool) -> bool {
        if known.is_some_and(|known| known >= Failed) {
            self.shows_what_is_known();
            return false;
        }
        if self.waits() {
            if !leased {
                self.recipient_fails();
            }
            return leased;
        }
        if self.status != Status::Discarded {
            self.change(Change::FailLate);
            self.recipient_fails();
        }
        self.shown = Some(Failed);
        false
    }

    fn recipient_fails(&mut self) {
        let generation = self.generation;
        self.recipient = self.recipient.map(|known| match self.waits() && !known.has_it {
            // It is tried again anyway.
            true => known,
            false => Known {
                has_it: false,
                generation: if known.has_it {
                    generation
                } else {
                    known.generation
                },
                told: Failed,
            },
        });
    }

    /// What was learned while it was being sent is shown once that has ended.
    fn shows_what_is_known(&mut self) {
        if let Some(known) = self.recipient.filter(|_| !self.waits()) {
            self.shown = Some(known.told);
        }
    }
}
