//! Many parked messages at once: which ones, how many they are, and a bounded step of acting on them.
//!
//! Always true: the set is fixed when it is counted; a step that is asked for twice is done once.

use crate::wire::{Garbled, v1};
use domain::Timestamp;
pub use domain::site::{ParkedAction, ParkedFilter};
use serde::{Deserialize, Serialize};

/// How many messages match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedCount {
    pub total: u64,
    /// The site's last change at that moment: with it in the filter, what changes later is left alone.
    pub until: i64,
}

/// One step of a bulk action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkStep {
    /// Names the bulk action: a step that is asked for again after a lost answer is not done again.
    pub job: String,
    pub action: ParkedAction,
    pub filter: ParkedFilter,
    /// Where the last step said to go on.
    pub after: Option<String>,
    pub limit: u32,
    /// Who asked, as central knows them.
    pub by: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkDone {
    pub done: u64,
    /// None: that was all.
    pub next: Option<String>,
}

impl From<ParkedFilter> for v1::Filter {
    fn from(f: ParkedFilter) -> Self {
        Self {
            category: f.category.map(|c| c.as_str().into()),
            target: f.target,
            error_code: f.error_code,
            instance: f.instance,
            from: f.from.map(Timestamp::as_millis),
            to: f.to.map(Timestamp::as_millis),
            removed: f.removed,
            until: f.until,
        }
    }
}

impl TryFrom<v1::Filter> for ParkedFilter {
    type Error = Garbled;

    fn try_from(f: v1::Filter) -> Result<Self, Garbled> {
        Ok(Self {
            category: f.category.map(|c| c.parse()).transpose()?,
            target: f.target,
            error_code: f.error_code,
            instance: f.instance,
            from: f.from.map(Timestamp::from_millis),
            to: f.to.map(Timestamp::from_millis),
            removed: f.removed,
            until: f.until,
        })
    }
}

impl From<BulkStep> for v1::ActOnMany {
    fn from(step: BulkStep) -> Self {
        let action = match step.action {
            ParkedAction::Retry => v1::act::Action::Retry,
            ParkedAction::Discard => v1::act::Action::Discard,
        };
        Self {
            action: action.into(),
            filter: Some(step.filter.into()),
            after: step.after,
            limit: step.limit,
            by: step.by,
            job: step.job,
        }
    }
}

impl TryFrom<v1::ActOnMany> for BulkStep {
    type Error = Garbled;

    fn try_from(step: v1::ActOnMany) -> Result<Self, Garbled> {
        let action = match step.action() {
            v1::act::Action::Retry => ParkedAction::Retry,
            v1::act::Action::Discard => ParkedAction::Discard,
            v1::act::Action::Nothing | v1::act::Action::TryWaiting | v1::act::Action::DiscardWaiting => {
                return Err(format!("an unknown action ({})", step.action));
            }
        };
        // Without a filter everything would match, which is not what somebody meant who sent none.
        let filter = step.filter.ok_or("a bulk action without a filter")?;
        Ok(Self {
            job: step.job,
            action,
            filter: filter.try_into()?,
            after: step.after,
            limit: step.limit,
            by: step.by,
        })
    }
}
