//! The filters of the list of notifications, from the address and back into it: a view can be shared and returned to.

mod address;
mod back;
mod bulk;
mod chips;
mod range;
#[cfg(test)]
mod tests;

pub use address::Query;
pub use back::{Back, back_suffix};
pub use range::{RANGES, since};

use crate::{dto::filter::SEARCH_RANGE, fields::parse_timestamp, query::Params};
use domain::{Channel, Status, TextFilter, TextFilters, Timestamp, Zone};
use range::range;
use std::time::Duration;
use store::query::Filter;

/// Filters whose values the form offers to choose from.
const CHOSEN_FROM_A_LIST: [&str; 3] = ["site", "list", "provider"];

/// What the address asks for, as it was typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    pub status: Vec<Status>,
    pub channel: Option<Channel>,
    pub range: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub stuck: bool,
    pub q: Option<String>,
    pub by: TextFilters,
    /// In which times are meant that name none: as the address says, otherwise the viewer's.
    pub zone: Zone,
}

impl Asked {
    /// What cannot be read is named in `params`, which refuses the request when it is finished: a filter that is left
    /// out would show, and offer to act on, what nobody asked for.
    pub fn read(params: &mut Params, viewers: &Zone) -> Self {
        let zone = params.text("zone");
        if zone.as_deref().is_some_and(|name| Zone::named(name).is_none()) {
            params.problem("zone", "must be a time zone like Europe/Berlin");
        }
        let asked = Self {
            zone: zone
                .and_then(|name| Zone::named(&name))
                .unwrap_or_else(|| viewers.clone()),
            status: params.several("status"),
            channel: params.parsed("type"),
            range: params.text("range"),
            from: params.text("from"),
            to: params.text("to"),
            stuck: params.boolean("stuck").unwrap_or(false),
            q: params.text("q"),
            by: TextFilters::read(|name| params.text(name)),
        };
        for (name, text) in [("from", &asked.from), ("to", &asked.to)] {
            if text.as_deref().is_some_and(|text| asked.moment(text).is_none()) {
                params.problem(name, "must be a time like 2026-01-31T13:45");
            }
        }
        if asked.range.as_deref().is_some_and(|name| range(name).is_none()) {
            let known: Vec<_> = RANGES.iter().map(|(name, ..)| *name).collect();
            params.problem("range", format!("must be one of {}", known.join(", ")));
        }
        asked
    }

    fn earliest_at(&self, now: Timestamp) -> Option<Timestamp> {
        let typed = self.from.as_deref().and_then(|text| self.moment(text));
        let chosen = self.range.as_deref().and_then(range);
        let chosen = chosen.map(|range| range.start(now, &self.zone));
        let searched = self.q.as_ref().map(|_| now - SEARCH_RANGE);
        typed.or(chosen).or(searched)
    }

    /// Whether a search was cut to the last days because nothing else was said.
    pub fn is_cut(&self) -> bool {
        self.q.is_some() && self.from.is_none() && self.range.is_none()
    }

    pub fn filter(&self, now: Timestamp, stuck_after: Duration) -> Filter {
        Filter {
            status: self.status.clone(),
            channel: self.channel,
            from: self.earliest_at(now),
            to: self.to.as_deref().and_then(|text| self.moment(text)),
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
        for (name, _, value) in self.typed() {
            query.add(name, value);
        }
        query.add("stuck", self.stuck.then_some("true"));
        // Who gets the address sees the same, wherever they are.
        let local = [&self.from, &self.to]
            .into_iter()
            .flatten()
            .any(|text| parse_timestamp(text).is_none());
        let days = matches!(self.range.as_deref(), Some("today" | "week"));
        if (local || days) && self.zone != Zone::default() {
            query.add("zone", Some(self.zone.name()));
        }
        query.0
    }

    /// A time as a form's field has it, in the zone, or as the API writes it.
    fn moment(&self, text: &str) -> Option<Timestamp> {
        parse_timestamp(text).or_else(|| self.zone.read(text))
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

    /// What is kept as it was typed, with its label.
    fn typed(&self) -> [(&'static str, &'static str, Option<&str>); 4] {
        [
            ("range", "Within", self.range.as_deref()),
            ("from", "From", self.from.as_deref()),
            ("to", "To", self.to.as_deref()),
            ("q", "Search", self.q.as_deref()),
        ]
    }

    fn forget(&mut self, name: &str) {
        let field = match name {
            "range" => &mut self.range,
            "from" => &mut self.from,
            "to" => &mut self.to,
            _ => &mut self.q,
        };
        *field = None;
    }

    pub fn has(&self, status: &Status) -> bool {
        self.status.contains(status)
    }
}
