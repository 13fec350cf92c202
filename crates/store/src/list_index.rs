//! Which index serves a list of notifications. The same for both databases, so that a filter costs the same on each.

use crate::query::{Cursor, Filter};
use domain::Status;

/// Where the candidates of a filter are found, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListIndex<'f> {
    /// What waits and what is parked: few rows beside the history, by number.
    Unfinished {
        waiting: bool,
        parked: bool,
    },
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
        let stuck = filter.stuck_after.is_some();
        let waiting = stuck || asks(Status::Pending) || asks(Status::Retrying);
        let parked = !stuck && asks(Status::Parked);
        let ended = !stuck && (asks(Status::Delivered) || asks(Status::Discarded));
        let by = &filter.by;
        match (&by.entity_type, &by.entity_id, &by.execution_id) {
            _ if (waiting || parked) && !ended => Self::Unfinished { waiting, parked },
            (Some(kind), Some(id), _) => Self::Entity { kind, id },
            (_, _, Some(execution)) => Self::Execution(execution),
            _ => Self::Time,
        }
    }

    /// Where a page begins. Only the index by time can leave out what came after `to`.
    pub fn start(self, filter: &Filter, after: Option<Cursor>) -> Cursor {
        match self {
            Self::Time => Cursor::newest(filter.to, after),
            Self::Unfinished { .. } | Self::Entity { .. } | Self::Execution(_) => Cursor::newest(None, after),
        }
    }
}

/// The word a subject must contain, in any script's upper case: which no database does alike, so it is done here.
#[derive(Debug)]
pub(crate) struct Keyword(Option<String>);

impl Keyword {
    pub fn of(filter: &Filter) -> Self {
        Self(filter.keyword.as_ref().map(|word| word.to_lowercase()))
    }

    pub fn is_in(&self, subject: &str) -> bool {
        let word = self.0.as_deref();
        word.is_none_or(|word| subject.to_lowercase().contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::TextFilters;
    use std::time::Duration;

    #[test]
    fn a_filter_is_served_by_the_index_with_the_fewest_candidates() {
        let filter = |status: &[Status]| Filter {
            status: status.to_vec(),
            ..Filter::default()
        };
        let unfinished = |waiting, parked| ListIndex::Unfinished { waiting, parked };
        for (filter, index) in [
            (filter(&[]), ListIndex::Time),
            (filter(&[Status::Pending]), unfinished(true, false)),
            (
                filter(&[Status::Parked, Status::Retrying]),
                unfinished(true, true),
            ),
            (filter(&[Status::Parked, Status::Delivered]), ListIndex::Time),
            (
                Filter {
                    stuck_after: Some(Duration::ZERO),
                    ..filter(&[Status::Parked, Status::Delivered])
                },
                unfinished(true, false),
            ),
            (
                Filter {
                    by: TextFilters {
                        entity_type: Some("order".into()),
                        execution_id: Some("run".into()),
                        ..TextFilters::default()
                    },
                    ..filter(&[Status::Delivered])
                },
                ListIndex::Execution("run"),
            ),
            (
                Filter {
                    by: TextFilters {
                        entity_type: Some("order".into()),
                        entity_id: Some("7".into()),
                        execution_id: Some("run".into()),
                        ..TextFilters::default()
                    },
                    ..filter(&[])
                },
                ListIndex::Entity {
                    kind: "order",
                    id: "7",
                },
            ),
        ] {
            assert_eq!(ListIndex::serving(&filter), index, "{filter:?}");
        }
    }
}
