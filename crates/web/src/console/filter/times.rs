//! The time that a list is about, as it was picked or typed: the same fields, words and refusals on every list.

use super::{
    Query,
    range::{RANGES, range, range_word},
};
use crate::{fields::parse_timestamp, query::Params};
use domain::{Timestamp, Zone};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Times {
    pub range: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    /// In which times are meant that name none: as the address says if it asks for such a time, otherwise the viewer's.
    pub zone: Zone,
}

impl Times {
    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    pub fn read(params: &mut Params, viewers: &Zone) -> Self {
        let zone = params.text("zone");
        if zone.as_deref().is_some_and(|name| Zone::named(name).is_none()) {
            params.problem("zone", "must be a time zone like Europe/Berlin");
        }
        let mut times = Self {
            range: params.text("range"),
            from: params.text("from"),
            to: params.text("to"),
            zone: viewers.clone(),
        };
        if times.depend_on_zone() {
            times.zone = zone.and_then(|name| Zone::named(&name)).unwrap_or(times.zone);
        }
        for (name, text) in [("from", &times.from), ("to", &times.to)] {
            if text.as_deref().is_some_and(|text| times.moment(text).is_none()) {
                params.problem(name, "must be a time like 2026-01-31T13:45");
            }
        }
        if times.range.as_deref().is_some_and(|name| range(name).is_none()) {
            let known: Vec<_> = RANGES.iter().map(|(name, ..)| *name).collect();
            params.problem("range", format!("must be one of {}", known.join(", ")));
        }
        times
    }

    /// What was typed and what was picked both hold, like all other filters: the later of the two.
    pub fn start(&self, now: Timestamp) -> Option<Timestamp> {
        let typed = self.from.as_deref().and_then(|text| self.moment(text));
        let picked = self.range.as_deref().and_then(range);
        typed.max(picked.map(|range| range.start(now, &self.zone)))
    }

    pub fn end(&self) -> Option<Timestamp> {
        self.to.as_deref().and_then(|text| self.moment(text))
    }

    /// A time as a form's field has it, in the zone, or as the API writes it.
    fn moment(&self, text: &str) -> Option<Timestamp> {
        parse_timestamp(text).or_else(|| self.zone.read(text))
    }

    pub fn add(&self, query: &mut Query) {
        query.add("range", self.range.as_deref());
        query.add("from", self.from.as_deref());
        query.add("to", self.to.as_deref());
    }

    /// Whether something was asked for that is another time elsewhere.
    fn depend_on_zone(&self) -> bool {
        let local = [&self.from, &self.to]
            .into_iter()
            .flatten()
            .any(|text| parse_timestamp(text).is_none());
        local || matches!(self.range.as_deref(), Some("today" | "week"))
    }

    /// Who gets the address sees the same, wherever they are, and wherever it was made.
    pub fn add_zone(&self, query: &mut Query) {
        if self.depend_on_zone() {
            query.add("zone", Some(self.zone.name()));
        }
    }

    /// Each in words, with what is left without it.
    pub fn chips(&self) -> Vec<(String, Self)> {
        let without = |change: fn(&mut Self)| {
            let mut rest = self.clone();
            change(&mut rest);
            rest
        };
        let at = |text: &str| {
            let at = self.moment(text);
            at.map_or(text.to_owned(), |at| self.zone.minute(at))
        };
        let range = self.range.as_deref().map(|name| {
            let word = range_word(name).unwrap_or(name);
            (format!("Within: {word}"), without(|times| times.range = None))
        });
        let from = self.from.as_deref();
        let from = from.map(|text| (format!("From: {}", at(text)), without(|times| times.from = None)));
        let to = self.to.as_deref();
        let to = to.map(|text| (format!("To: {}", at(text)), without(|times| times.to = None)));
        [range, from, to].into_iter().flatten().collect()
    }
}
