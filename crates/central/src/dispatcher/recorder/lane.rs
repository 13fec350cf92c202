//! What an attempt means for its lane, written down before its row goes back into it.

use super::{Feedback, Recorder};
use crate::dispatcher::{conclude::Conclusion, lanes::Behaviour};
use domain::{Actor, Hold};
use store::signals::Signal;

impl Recorder {
    /// Holds, resumes or pauses the lane, before its row goes back into it.
    pub(super) async fn conclude_lane(&self, conclusion: &Conclusion) {
        let lane = conclusion.lane;
        if let Some(hold) = &conclusion.hold {
            let held = self
                .persist("hold", || self.store.hold_lane(hold.clone()))
                .await
                .unwrap_or(false);
            if held && conclusion.probe.is_none() {
                self.signals.announce(Signal::LookAgain);
            }
            let next_probe = hold.probe_after.map(|wait| self.clock.now() + wait);
            if held && conclusion.probe.is_none() {
                // The far end's own words are in the hold; here they might repeat what they were sent.
                let attempt = conclusion
                    .record
                    .as_ref()
                    .and_then(|record| record.attempt.as_ref());
                tracing::warn!(
                    lane.id = %lane, hold.reason = %hold.reason, code = attempt.and_then(|a| a.code.as_deref()),
                    "lane held; its notifications wait"
                );
            }
            self.tell(match conclusion.probe {
                Some(_) => Feedback::Probed {
                    lane,
                    held,
                    next_probe,
                },
                None if held => Feedback::Held { lane, next_probe },
                None => Feedback::Probed {
                    lane,
                    held: false,
                    next_probe: None,
                },
            });
        } else if let Some(Hold { reason, .. }) = conclusion.probe {
            let well = conclusion.behaviour == Behaviour::Answered;
            if well {
                let system = Actor::system();
                self.persist("resume", || self.store.resume_lane(lane, Some(reason), &system))
                    .await;
                tracing::info!(lane.id = %lane, hold.reason = %reason, "lane resumed: its probe was answered");
            }
            self.tell(Feedback::Probed {
                lane,
                held: !well,
                next_probe: None,
            });
        }
        if let (false, Some(record)) = (conclusion.opted_out.is_empty(), &conclusion.record) {
            let now = self.clock.now();
            for entry in &conclusion.opted_out {
                let told = || self.suppressions.suppress_as_told(record.tenant, entry, now);
                self.persist("suppress", told).await;
            }
        }
        if !conclusion.pauses.is_empty() {
            let pauses = &conclusion.pauses;
            self.persist("pause", || self.store.add_pauses(lane, pauses.clone()))
                .await;
        }
        if let Some(wait) = conclusion.pause {
            self.persist("pause", || self.store.pause_lane(lane, wait)).await;
            // What waits for a place on other nodes goes back.
            self.signals.announce(Signal::LookAgain);
            self.tell(Feedback::Paused {
                lane,
                until: self.clock.now() + wait,
            });
        }
    }
}
