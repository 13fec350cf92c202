//! What is asked of a source, and by whom.

use domain::LeaseToken;
use store::events::{DueSchedule, Event};

/// Which lookup is made of whom, and for which event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::events) struct Question {
    pub lookup: String,
    pub tenant: String,
    pub entity: String,
    /// Its place in the outbox.
    pub event: i64,
    pub asker: Asker,
}

/// Who asks: only that one may have the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::events) enum Asker {
    /// An event that was not published yet.
    Event,
    /// The schedule of one, under this claim.
    Schedule {
        claim: LeaseToken,
        /// The one before, unless an event of its entity came in between: an answer from before that is not believed.
        before: Option<LeaseToken>,
    },
}

impl Asker {
    pub fn claimed(due: &DueSchedule, claim: LeaseToken) -> Self {
        let before = due.held_by;
        Self::Schedule { claim, before }
    }

    /// Whether what `earlier` asked answers this one.
    pub fn follows(self, earlier: Self) -> bool {
        match (self, earlier) {
            (Self::Event, Self::Event) => true,
            (Self::Schedule { claim, before }, Self::Schedule { claim: asked, .. }) => {
                asked == claim || Some(asked) == before
            }
            _ => false,
        }
    }
}

impl Question {
    pub fn of(event: &Event, lookup: &str, asker: Asker) -> Self {
        Self {
            lookup: lookup.to_owned(),
            tenant: event.tenant_name.clone(),
            entity: event.entity_id.clone(),
            event: event.seq,
            asker,
        }
    }

    pub fn is_about_the_same(&self, other: &Self) -> bool {
        (&self.lookup, &self.tenant, &self.entity, self.event)
            == (&other.lookup, &other.tenant, &other.entity, other.event)
    }
}
