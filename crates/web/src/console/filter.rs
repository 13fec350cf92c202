//! The filters of the list of notifications, from the address and back into it: a view can be shared and returned to.

use crate::{dto::filter::SEARCH_RANGE, fields::parse_timestamp, query::Params};
use central::jobs::BulkFilter;
use domain::{Channel, Status, TextFilter, TextFilters, Timestamp};
use std::{fmt::Write, time::Duration};
use store::query::Filter;

/// Times to choose from without typing.
pub const RANGES: [(&str, &str, Duration); 4] = [
    ("1h", "Last hour", Duration::from_secs(3600)),
    ("24h", "Last 24 hours", Duration::from_secs(86_400)),
    ("7d", "Last 7 days", Duration::from_secs(7 * 86_400)),
    ("30d", "Last 30 days", Duration::from_secs(30 * 86_400)),
];

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
}

impl Asked {
    /// What cannot be read is named in `params`, which refuses the request when it is finished: a filter that is left
    /// out would show, and offer to act on, what nobody asked for.
    pub fn read(params: &mut Params) -> Self {
        let asked = Self {
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
            if text.as_deref().is_some_and(|text| moment(text).is_none()) {
                params.problem(name, "must be a time like 2026-01-31T13:45");
            }
        }
        if asked.range.as_deref().is_some_and(|name| length(name).is_none()) {
            let known: Vec<_> = RANGES.iter().map(|(name, ..)| *name).collect();
            params.problem("range", format!("must be one of {}", known.join(", ")));
        }
        asked
    }

    fn earliest_at(&self, now: Timestamp) -> Option<Timestamp> {
        let typed = self.from.as_deref().and_then(moment);
        let chosen = self.range.as_deref().and_then(length).map(|length| now - length);
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
            to: self.to.as_deref().and_then(moment),
            stuck_after: self.stuck.then_some(stuck_after),
            keyword: self.q.clone(),
            by: self.by.clone(),
            ended_by: None,
        }
    }

    /// The same for a bulk action; or why there can be none.
    pub fn bulk(&self, now: Timestamp) -> Result<BulkFilter, String> {
        if self.stuck {
            return Err(
                "Stuck notifications still wait; only parked ones can be retried or discarded.".into(),
            );
        }
        if !self.status.is_empty() && !self.status.contains(&Status::Parked) {
            return Err(
                "Only parked notifications can be retried or discarded; the filter leaves them out.".into(),
            );
        }
        if let Some((one, _)) = self.by.given().find(|(one, _)| !one.bulk) {
            let by = one.label.to_lowercase();
            return Err(format!(
                "A filter by {by} cannot be acted on as a whole; select rows instead."
            ));
        }
        Ok(BulkFilter {
            channel: self.channel,
            from: self.earliest_at(now),
            to: self.to.as_deref().and_then(moment),
            keyword: self.q.clone(),
            by: self.by.clone(),
            as_of: None,
        })
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
        query.0
    }

    /// Each filter in words, with the address of the view without it.
    pub fn chips(&self) -> Vec<(String, String)> {
        let mut chips = vec![];
        let mut chip = |text: String, without: Asked| {
            chips.push((text, format!("/notifications?{}", without.query())));
        };
        for status in &self.status {
            let mut without = self.clone();
            without.status.retain(|s| s != status);
            chip(status.to_string(), without);
        }
        if self.stuck {
            chip(
                "Stuck only".into(),
                Asked {
                    stuck: false,
                    ..self.clone()
                },
            );
        }
        if let Some(channel) = self.channel {
            chip(
                channel.to_string(),
                Asked {
                    channel: None,
                    ..self.clone()
                },
            );
        }
        for (one, value) in self.by.given() {
            let mut without = self.clone();
            without.by.set(one, None);
            chip(format!("{}: {value}", one.label), without);
        }
        for (name, label, value) in self.typed() {
            let Some(value) = value else { continue };
            let mut without = self.clone();
            without.forget(name);
            chip(format!("{label}: {value}"), without);
        }
        chips
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
            ("q", "Subject", self.q.as_deref()),
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

fn length(range: &str) -> Option<Duration> {
    RANGES
        .iter()
        .find(|(name, ..)| *name == range)
        .map(|(.., length)| *length)
}

/// The view of the list that a page was opened from, so that its way back leads there.
#[derive(Debug, Default, PartialEq)]
pub struct Back(Asked);

impl Back {
    /// What no list could have said is no way back; the page itself is none the worse for it.
    pub fn read(params: &mut Params) -> Self {
        let query = params.text("back").unwrap_or_default();
        let asked = format!("/?{query}").parse().ok().and_then(|uri| {
            let mut params = Params::read(&uri).ok()?;
            let asked = Asked::read(&mut params);
            params.finish().ok().map(|()| asked)
        });
        Self(asked.unwrap_or_default())
    }

    /// The address of the list.
    pub fn list(&self) -> String {
        match self.0.query() {
            query if query.is_empty() => "/notifications".into(),
            query => format!("/notifications?{query}"),
        }
    }

    /// What an address carries to keep it.
    pub fn suffix(&self) -> String {
        back_suffix(&self.0.query())
    }
}

/// The end of an address that leads away from a view of the list.
pub fn back_suffix(query: &str) -> String {
    match query {
        "" => String::new(),
        query => format!("?back={}", crate::api::lists::encode(query)),
    }
}

/// A time as a form's field has it (UTC) or as the API writes it.
fn moment(text: &str) -> Option<Timestamp> {
    parse_timestamp(text).or_else(|| match text.len() {
        10 => parse_timestamp(&format!("{text}T00:00:00Z")),
        16 => parse_timestamp(&format!("{text}:00Z")),
        _ => parse_timestamp(&format!("{text}Z")),
    })
}

/// The end of an address under construction.
#[derive(Debug, Default)]
pub struct Query(pub String);

impl Query {
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return;
        };
        if !self.0.is_empty() {
            self.0.push('&');
        }
        let _ = write!(self.0, "{name}={}", crate::api::lists::encode(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn asked(uri: &str) -> Asked {
        let mut params = Params::for_test(uri);
        let asked = Asked::read(&mut params);
        params.finish().unwrap();
        asked
    }

    #[test]
    fn filters_survive_their_own_address() {
        let uri = "/notifications?status=Parked&status=Pending&type=Email&site=a%20b&q=x%26y&from=2026-01-01T10:00&stuck=true";
        let first = asked(uri);
        let again = asked(&format!("/?{}", first.query()));
        assert_eq!(first, again);
        let filter = first.filter(NOW, Duration::from_secs(600));
        assert_eq!(filter.from.unwrap().to_string(), "2026-01-01T10:00:00.000Z");
        assert_eq!(filter.status, [Status::Parked, Status::Pending]);
    }

    #[test]
    fn what_cannot_be_read_and_what_is_unknown_is_refused_by_name() {
        let uri = "/?status=Parkd&type=Pigeon&from=yesterday&to=2026-01-01&range=2w&stuck=perhaps&errocode=X";
        let mut params = Params::for_test(uri);
        Asked::read(&mut params);
        let problem = params.finish().unwrap_err();
        let named: Vec<_> = problem.errors.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(named, ["status", "type", "stuck", "from", "range", "errocode"]);
    }

    #[test]
    fn the_way_back_is_a_view_of_the_list_or_the_whole_list() {
        let back = |uri: &str| Back::read(&mut Params::for_test(uri));
        let kept = back("/?back=status%3DParked%26q%3Da%2520b");
        assert_eq!(kept.list(), "/notifications?status=Parked&q=a%20b");
        assert_eq!(kept.suffix(), "?back=status%3DParked%26q%3Da%2520b");
        for none in ["/", "/?back=", "/?back=colour%3Dred", "/?back=status%3DBlue"] {
            assert_eq!(
                (back(none).list().as_str(), back(none).suffix().as_str()),
                ("/notifications", "")
            );
        }
    }

    #[test]
    fn a_chip_leads_to_the_view_without_it() {
        let asked = asked("/?status=Parked&site=north&range=24h");
        let chips = asked.chips();
        assert_eq!(
            chips[0],
            ("Parked".into(), "/notifications?site=north&range=24h".into())
        );
        assert_eq!(
            chips[1],
            (
                "Site: north".into(),
                "/notifications?status=Parked&range=24h".into()
            )
        );
    }

    #[test]
    fn a_bulk_action_takes_the_filter_or_says_why_not() {
        assert!(
            asked("/?stuck=true")
                .bulk(NOW)
                .unwrap_err()
                .contains("still wait")
        );
        assert!(asked("/?status=Pending").bulk(NOW).is_err());
        let why = asked("/?executionId=run-1").bulk(NOW).unwrap_err();
        assert!(why.contains("by execution"), "{why}");
        let bulk = asked("/?status=Parked&range=1h&provider=mail").bulk(NOW).unwrap();
        assert_eq!(
            (bulk.by.provider.as_deref(), bulk.from),
            (Some("mail"), Some(NOW - Duration::from_secs(3600)))
        );
    }
}
