//! Which index serves a list of notifications. The same for both databases, so that a filter costs the same on each.

use crate::query::{Cursor, Filter};
use domain::{IdRange, Status, TextFilters, filter::MAX_WORDS};
use std::time::Duration;

/// Where the candidates of a filter are found, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListIndex<'f> {
    /// What waits and what is parked: few rows beside the history, by number.
    Unfinished {
        waiting: bool,
        parked: bool,
    },
    /// What waits too long, by number: only from what was accepted so long ago.
    Stuck(Duration),
    Ids(IdRange),
    Entity {
        kind: &'f str,
        id: &'f str,
    },
    Execution(&'f str),
    Time,
}

impl<'f> ListIndex<'f> {
    pub fn serving(filter: &'f Filter) -> Self {
        let asks = |status: Status| filter.status.contains(&status);
        let waiting = asks(Status::Pending) || asks(Status::Retrying);
        let parked = asks(Status::Parked);
        let ended = asks(Status::Delivered) || asks(Status::Discarded);
        let by = &filter.by;
        if let Some(ids) = filter.ids {
            return Self::Ids(ids);
        }
        if let Some(after) = filter.stuck_after {
            return Self::Stuck(after);
        }
        match (&by.entity_type, &by.entity_id, &by.execution_id) {
            _ if (waiting || parked) && !ended => Self::Unfinished { waiting, parked },
            (Some(kind), Some(id), _) => Self::Entity { kind, id },
            (_, _, Some(execution)) => Self::Execution(execution),
            _ => Self::Time,
        }
    }

    /// Whether every candidate passes the filter, so that nobody has to look at the rows.
    pub fn answers_alone(self, filter: &Filter) -> bool {
        let by = |by: TextFilters| Filter {
            by,
            ..Filter::default()
        };
        let answered = match self {
            Self::Time => Filter {
                from: filter.from,
                to: filter.to,
                ..Filter::default()
            },
            Self::Entity { kind, id } => by(TextFilters {
                entity_type: Some(kind.to_owned()),
                entity_id: Some(id.to_owned()),
                ..TextFilters::default()
            }),
            Self::Execution(execution) => by(TextFilters {
                execution_id: Some(execution.to_owned()),
                ..TextFilters::default()
            }),
            Self::Unfinished { .. } | Self::Stuck(_) | Self::Ids(_) => return false,
        };
        answered == *filter
    }

    /// Where a page begins. Only the index by time can leave out what came after `to`.
    pub fn start(self, filter: &Filter, after: Option<Cursor>) -> Cursor {
        match self {
            Self::Time => Cursor::newest(filter.to, after),
            Self::Unfinished { .. }
            | Self::Stuck(_)
            | Self::Ids(_)
            | Self::Entity { .. }
            | Self::Execution(_) => Cursor::newest(None, after),
        }
    }
}

/// The words that somebody looks for, in any script's upper case: which no database does alike, so it is done here.
#[derive(Debug)]
pub(crate) struct Keywords(Vec<String>);

impl Keywords {
    pub fn of(filter: &Filter) -> Self {
        let text = filter.keyword.as_deref().unwrap_or_default().to_lowercase();
        let words = text.split_whitespace().take(MAX_WORDS).map(str::to_owned);
        Self(words.collect())
    }

    /// Whether any are looked for.
    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether each of the words is in one of the texts: subject, addresses, the provider's ids.
    pub fn are_in(&self, texts: [Option<&str>; 5]) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let texts: Vec<String> = texts.into_iter().flatten().map(str::to_lowercase).collect();
        let is_in = |word: &String| texts.iter().any(|text| text.contains(word.as_str()));
        self.0.iter().all(is_in)
    }
}

#[cfg(test)]
#[path = "list_index_tests.rs"]
mod tests;
