//! A question on its way to the source.
//!
//! Always true: its place is free again when it ends, also where the lookup broke off.

use super::Asking;
use crate::events::lookup::LookedUp;
use domain::{Timestamp, lock::lock, retry};
use std::sync::Arc;
use tokio::{sync::watch, time::Instant};

/// One of the source's connections, until its answer is there.
pub(super) struct Place {
    pub id: u64,
    /// The hold before which it was asked.
    pub asked_in: u64,
    pub asking: Arc<Asking>,
    pub says: watch::Sender<Option<LookedUp>>,
}

impl Place {
    /// What was said, or why nobody was reached, and when that was known.
    pub fn end(self, said: Result<LookedUp, String>, now: Timestamp) {
        let mut state = lock(&self.asking.state);
        let answer = match said {
            Ok(answer) => {
                if state.hold.is_probed() {
                    state.turn = None;
                }
                state.hold.answered();
                answer
            }
            Err(why) => {
                if state.hold.failed(self.asked_in, now, &why) {
                    let source = self.asking.source.as_str();
                    tracing::warn!(event.source = source, error = why, "a lookup found nobody");
                }
                let after = state.hold.rest(now).map(|(rest, _)| rest);
                LookedUp::Held {
                    after: after.unwrap_or(retry::probe_source(1)),
                    why,
                }
            }
        };
        // That nobody was reached is said to those who wait now, and is not true later.
        let keeps = !matches!(answer, LookedUp::Held { .. });
        if let Some(one) = state.all.iter_mut().find(|one| one.id == self.id) {
            one.answered_at = Some(Instant::now());
            let (is_kept, took) = (keeps && one.question.is_some(), one.asked_at.elapsed());
            state.took = took;
            if !is_kept {
                state.fetched(self.id);
            }
        }
        drop(state);
        self.says.send_replace(Some(answer));
    }
}

impl Drop for Place {
    /// Also where the lookup broke off.
    fn drop(&mut self) {
        let mut state = lock(&self.asking.state);
        state
            .all
            .retain(|one| one.id != self.id || one.answered_at.is_some());
        drop(state);
        self.asking.freed.notify_waiters();
    }
}
