//! Acting on many parked messages, a bounded step at a time.
//!
//! Always true: a step whose answer got lost is not done again while this process runs; what was parked after the
//! count is left alone.

use crate::{
    parked::{PAGE, ParkedError, cursor},
    site::Site,
};
use domain::{
    Actor,
    site::{ParkedAction, ParkedFilter},
};
use link::{BulkDone, BulkStep, ParkedCount};
use std::collections::VecDeque;
use store::buffer::Selection;

/// Answers that are remembered, in case one did not arrive.
const ANSWERS: usize = 64;

/// The last steps and their answers, by bulk action and place.
#[derive(Debug, Default)]
pub(crate) struct LastSteps(VecDeque<((String, Option<String>), BulkDone)>);

impl LastSteps {
    fn answer(&self, step: &(String, Option<String>)) -> Option<BulkDone> {
        let found = self.0.iter().find(|(known, _)| known == step);
        found.map(|(_, answer)| answer.clone())
    }

    fn keep(&mut self, step: (String, Option<String>), answer: BulkDone) {
        if self.0.len() == ANSWERS {
            self.0.pop_front();
        }
        self.0.push_back((step, answer));
    }
}

impl Site {
    /// How many messages match.
    pub async fn count_parked(&self, filter: ParkedFilter) -> Result<ParkedCount, ParkedError> {
        let filter = self.meant(filter)?;
        let (total, until) = self.buffer.count_selected(filter).await?;
        Ok(ParkedCount { total, until })
    }

    /// One step of a bulk action. A step without a name is done as often as it is asked for.
    pub async fn act_on_many(&self, step: BulkStep) -> Result<BulkDone, ParkedError> {
        if step.filter.removed && step.action == ParkedAction::Retry {
            let words = "what waits for a target that is gone cannot be retried, only discarded";
            return Err(ParkedError::Bad("removed", words.into()));
        }
        self.may_act_on_many()?;
        let selection = Selection {
            filter: self.meant(step.filter)?,
            after: cursor(step.after.as_deref())?,
            limit: step.limit.clamp(1, PAGE),
        };
        // Held during the step: the same one may come again by a new link before the first has its answer.
        let mut last = self.last_steps.lock().await;
        let name = (step.job, step.after);
        if let Some(answer) = last.answer(&name).filter(|_| !name.0.is_empty()) {
            return Ok(answer);
        }
        let acted = self
            .buffer
            .act_on_selected(selection, step.action, &Actor::new(step.by))
            .await?;
        let answer = BulkDone {
            done: acted.done,
            next: acted.next.map(|place| place.to_string()),
        };
        if !name.0.is_empty() {
            last.keep(name, answer.clone());
        }
        Ok(answer)
    }
}
