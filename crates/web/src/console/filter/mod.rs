//! The filters of the list of notifications, from the address and back into it: a view can be shared and returned to.

mod address;
mod back;
mod bulk;
mod chips;
mod range;
#[cfg(test)]
mod tests;
mod times;

pub use address::Query;
pub use back::{Back, back_suffix};
pub use range::RANGES;
pub use times::Times;

use crate::query::Params;
use domain::{Channel, Status, TextFilter, TextFilters, Timestamp, Zone};
use std::time::Duration;
use store::query::Filter;

/// Filters whose values the form offers to choose from.
const CHOSEN_FROM_A_LIST: [&str; 3] = ["site", "list", "provider"];

/// What the address asks for, as it was typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListQuery {
    pub status: Vec<Status>,
    pub channel: Option<Channel>,
    pub stuck: bool,
    pub q: Option<String>,
    pub by: TextFilters,
    pub times: Times,
}

impl ListQuery {
    /// What cannot be read is named in `params`, which refuses the request when it is finished: a filter that is left
    /// out would show, and offer to act on, what nobody asked for.
    pub fn read(params: &mut Params, viewers: &Zone) -> Self {
        Self {
            status: params.several("status"),
            channel: params.parsed("type"),
            stuck: params.boolean("stuck").unwrap_or(false),
            q: params.words("q"),
            by: TextFilters::read(|name| params.text(name)),
            times: Times::read(params, viewers),
        }
    }

    pub fn filter(&self, now: Timestamp, stuck_after: Duration) -> Filter {
        Filter {
            status: self.status.clone(),
            channel: self.channel,
            from: self.times.start(now),
            to: self.times.end(),
            ids: None,
            stuck_after: self.stuck.then_some(stuck_after),
            keyword: self.q.clone(),
            by: self.by.clone(),
            ended_by: None,
        }
    }

    /// The filters as the end of an address, without `?`.
    pub fn query(&self) -> String {
        let mut query = Query::default();
        for status in &self.status {
            query.add("status", Some(status.as_str()));
        }
        query.add("type", self.channel.map(Channel::as_str));
        for (one, value) in self.by.given() {
            query.add(one.name, Some(value));
        }
        self.times.add(&mut query);
        query.add("q", self.q.as_deref());
        query.add("stuck", self.stuck.then_some("true"));
        self.times.add_zone(&mut query);
        query.0
    }

    /// The texts that have no field of their own kind in the form.
    pub fn plain(&self) -> Vec<(&'static TextFilter, &str)> {
        let plain = TextFilter::ALL
            .iter()
            .filter(|one| !CHOSEN_FROM_A_LIST.contains(&one.name));
        plain
            .map(|one| (one, self.by.get(one).as_deref().unwrap_or_default()))
            .collect()
    }

    pub fn has(&self, status: &Status) -> bool {
        self.status.contains(status)
    }
}
