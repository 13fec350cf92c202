//! The filters of the list of notifications, from the address and back into it: a view can be shared and returned to.

use crate::{dto::filter::SEARCH_RANGE, fields::parse_timestamp, query::Params};
use central::jobs::{Action, BulkFilter};
use domain::{Channel, Status, TextFilter, TextFilters, Timestamp, Zone};
use std::{fmt::Write, time::Duration};
use store::query::Filter;

/// Times to choose from without typing.
pub const RANGES: [(&str, &str, Range); 6] = [
    ("1h", "Last hour", Range::Last(Duration::from_secs(3600))),
    ("24h", "Last 24 hours", Range::Last(Duration::from_secs(86_400))),
    ("today", "Today", Range::Today),
    ("week", "This week", Range::ThisWeek),
    ("7d", "Last 7 days", Range::Last(Duration::from_secs(7 * 86_400))),
    (
        "30d",
        "Last 30 days",
        Range::Last(Duration::from_secs(30 * 86_400)),
    ),
];

/// Since when, seen from now. Days and weeks are the viewer's.
#[derive(Debug, Clone, Copy)]
pub enum Range {
    Last(Duration),
    Today,
    ThisWeek,
}

impl Range {
    fn start(self, now: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Range::Last(length) => now - length,
            Range::Today => zone.start_of_day(now),
            Range::ThisWeek => zone.start_of_week(now),
        }
    }
}

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

    /// The actions that the filter leaves anything for.
    pub fn actions(&self) -> Vec<Action> {
        let all = [Action::Retry, Action::Discard, Action::Cancel, Action::Resend];
        all.into_iter()
            .filter(|action| self.leaves_for(*action))
            .collect()
    }

    fn leaves_for(&self, action: Action) -> bool {
        let asks = |status: Status| self.status.contains(&status);
        let any = self.status.is_empty();
        match action {
            Action::Retry | Action::Discard => !self.stuck && (any || asks(Status::Parked)),
            Action::Cancel => self.stuck || any || asks(Status::Pending) || asks(Status::Retrying),
            // Everything that was ever delivered is never meant by saying nothing.
            Action::Resend => {
                let ended = [Status::Delivered, Status::Parked, Status::Discarded];
                !self.stuck && ended.into_iter().any(asks)
            }
        }
    }

    /// The same for a bulk action; or why there can be none.
    pub fn bulk(&self, action: Action, now: Timestamp) -> Result<BulkFilter, String> {
        if !self.leaves_for(action) {
            return Err(match action {
                Action::Retry | Action::Discard => {
                    "Only parked notifications can be retried or discarded; the filter leaves them out."
                }
                Action::Cancel => "Only what still waits can be cancelled; the filter leaves it out.",
                Action::Resend => {
                    "Only what has ended can be sent again: choose Delivered, Parked or Discarded in the filter."
                }
            }
            .into());
        }
        if self.stuck {
            return Err("Stuck ones cannot be acted on as a whole; select rows instead.".into());
        }
        if let Some((one, _)) = self.by.given().find(|(one, _)| !one.bulk) {
            let by = one.label.to_lowercase();
            return Err(format!(
                "A filter by {by} cannot be acted on as a whole; select rows instead."
            ));
        }
        let ended =
            |status: &Status| matches!(status, Status::Delivered | Status::Parked | Status::Discarded);
        Ok(BulkFilter {
            ended_as: match action {
                Action::Resend => self.status.iter().copied().filter(ended).collect(),
                _ => vec![],
            },
            channel: self.channel,
            from: self.earliest_at(now),
            to: self.to.as_deref().and_then(|text| self.moment(text)),
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
            let value = match name {
                "range" => range_word(value).unwrap_or(value).to_owned(),
                "from" | "to" => self
                    .moment(value)
                    .map_or(value.to_owned(), |at| self.zone.minute(at)),
                _ => value.to_owned(),
            };
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

fn range(asked: &str) -> Option<Range> {
    let found = RANGES.iter().find(|(name, ..)| *name == asked);
    found.map(|(.., range)| *range)
}

fn range_word(asked: &str) -> Option<&'static str> {
    let found = RANGES.iter().find(|(name, ..)| *name == asked);
    found.map(|(_, word, _)| *word)
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
            let asked = Asked::read(&mut params, &Zone::default());
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
        let asked = Asked::read(&mut params, &Zone::default());
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
        Asked::read(&mut params, &Zone::default());
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
    fn times_are_meant_in_the_viewers_zone_and_the_address_says_which() {
        let tokyo = Zone::named("Asia/Tokyo").unwrap();
        let mut params = Params::for_test("/?from=2026-01-01T09:00&range=today");
        let asked = Asked::read(&mut params, &tokyo);
        let from = asked.filter(NOW, Duration::ZERO).from.unwrap();
        assert_eq!(from.to_string(), "2026-01-01T00:00:00.000Z");
        assert!(asked.query().ends_with("zone=Asia%2FTokyo"), "{}", asked.query());
        // Somebody elsewhere opens the same address.
        let mut params = Params::for_test(&format!("/?{}", asked.query()));
        assert_eq!(Asked::read(&mut params, &Zone::default()), asked);
        let mut params = Params::for_test("/?range=today&zone=Nowhere");
        Asked::read(&mut params, &tokyo);
        assert_eq!(params.finish().unwrap_err().errors[0].field, "zone");
    }

    #[test]
    fn an_action_is_offered_where_the_filter_leaves_something_for_it() {
        assert_eq!(
            asked("/").actions(),
            [Action::Retry, Action::Discard, Action::Cancel]
        );
        assert_eq!(asked("/?status=Delivered").actions(), [Action::Resend]);
        assert_eq!(asked("/?status=Retrying").actions(), [Action::Cancel]);
        let ended = asked("/?status=Delivered").bulk(Action::Resend, NOW).unwrap();
        assert_eq!(ended.ended_as, [Status::Delivered]);
        assert!(asked("/").bulk(Action::Resend, NOW).is_err());
    }

    #[test]
    fn a_bulk_action_takes_the_filter_or_says_why_not() {
        assert!(
            asked("/?stuck=true")
                .bulk(Action::Retry, NOW)
                .unwrap_err()
                .contains("Only parked")
        );
        assert!(asked("/?status=Pending").bulk(Action::Discard, NOW).is_err());
        let why = asked("/?executionId=run-1").bulk(Action::Retry, NOW).unwrap_err();
        assert!(why.contains("by execution"), "{why}");
        let bulk = asked("/?status=Parked&range=1h&provider=mail")
            .bulk(Action::Retry, NOW)
            .unwrap();
        assert_eq!(
            (bulk.by.provider.as_deref(), bulk.from),
            (Some("mail"), Some(NOW - Duration::from_secs(3600)))
        );
    }
}
