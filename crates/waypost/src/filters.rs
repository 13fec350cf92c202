//! Which notifications: the flags of `list`, and the `key=value` pairs of bulk actions.

use client::{Channel, Filter, ParkedFilter, Status, Timestamp};
use domain::{Clock, SystemClock, TextFilter, TextFilters, retry::parse_human};

/// A moment in the past as people write it: `2026-01-31T12:00:00Z`, or `2h` for two hours ago.
pub fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    match parse_human(text) {
        Ok(ago) => Ok(SystemClock.now() - ago),
        Err(_) => Err(format!(
            "{text:?} is neither a time like 2026-01-31T12:00:00Z nor an age like 2h"
        )),
    }
}

/// A moment to come: `2026-01-31T12:00:00Z`, or `2h` for in two hours.
pub fn moment_ahead(text: &str) -> Result<Timestamp, String> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    match parse_human(text) {
        Ok(wait) => Ok(SystemClock.now() + wait),
        Err(_) => Err(format!(
            "{text:?} is neither a time like 2026-01-31T12:00:00Z nor a time from now like 2h"
        )),
    }
}

pub fn channel(text: &str) -> Result<Channel, String> {
    text.parse()
        .map_err(|e: domain::channel::UnknownChannel| e.to_string())
}

pub fn status(text: &str) -> Result<Status, String> {
    let known = || Status::CENTRAL.map(Status::as_str).join(", ");
    let found = Status::CENTRAL
        .into_iter()
        .find(|s| s.as_str().eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("{text:?} is not a status; there are {}", known()))
}

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Which notifications")]
pub struct FilterFlags {
    /// Only these statuses: Pending, Retrying, Delivered, Parked, Discarded
    #[arg(long, value_delimiter = ',', value_parser = status)]
    pub status: Vec<Status>,
    /// Only this type: Email, Webhook, …
    #[arg(long = "type", value_name = "TYPE", value_parser = channel)]
    pub channel: Option<Channel>,
    /// Not older than this: a time like 2026-01-31T12:00:00Z, or an age like 2h
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub from: Option<Timestamp>,
    /// Not younger than this
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub to: Option<Timestamp>,
    /// Only those that wait for too long (outbox.stuck_age_threshold)
    #[arg(long)]
    pub stuck: bool,
    /// An id, its first 8 characters, a Message-ID; or words, each in the subject, an address or the provider's id, of the last
    /// seven days unless --from says otherwise
    #[arg(long = "query", short = 'q', value_name = "TEXT")]
    pub keyword: Option<String>,
    #[command(flatten)]
    pub by: TextFlags,
}

/// A flag for each filter that is declared.
#[derive(Debug, Clone, Default)]
pub struct TextFlags(pub TextFilters);

impl clap::FromArgMatches for TextFlags {
    fn from_arg_matches(given: &clap::ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(TextFilters::read(|name| {
            given.get_one::<String>(name).cloned()
        })))
    }

    fn update_from_arg_matches(&mut self, given: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}

impl clap::Args for TextFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let flag = |one: &'static TextFilter| {
            clap::Arg::new(one.name)
                .long(one.flag)
                .value_name("TEXT")
                .help(one.help)
        };
        command.args(TextFilter::ALL.iter().map(flag))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FilterFlags {
    pub fn filter(&self) -> Filter {
        Filter {
            status: self.status.clone(),
            channel: self.channel,
            from: self.from,
            to: self.to,
            stuck: self.stuck,
            keyword: self.keyword.clone(),
            by: self.by.0.clone(),
        }
    }
}

/// What a bulk action may go by, in words.
pub fn pair_keys() -> String {
    let texts = TextFilter::in_bulk().map(|one| one.name);
    let all: Vec<_> = ["status", "type", "from", "to", "q"]
        .into_iter()
        .chain(texts)
        .collect();
    all.join(", ")
}

/// The keys that were given so far.
#[derive(Default)]
struct Seen<'p>(Vec<&'p str>);

impl<'p> Seen<'p> {
    /// Key and value of a pair. Refused without a value, which matches everything where it is a variable that was never set, and a
    /// second time, because only one of the two would count.
    fn take(&mut self, pair: &'p str, like: &str) -> Result<(&'p str, &'p str), String> {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!("{pair:?} is not a filter; write it like {like}"));
        };
        if value.trim().is_empty() {
            return Err(format!("{pair:?} has no value; write it like {like}"));
        }
        if self.0.contains(&key) {
            return Err(format!("{key} is given more than once; it takes one value"));
        }
        self.0.push(key);
        Ok((key, value))
    }
}

/// The filter of a bulk action, from `key=value` pairs. An empty pair list is refused: `all` says everything.
pub fn parse_pairs(pairs: &[String]) -> Result<Filter, String> {
    let mut filter = Filter::default();
    if pairs.iter().any(|pair| pair == "all") {
        return match pairs {
            [_] => Ok(filter),
            _ => Err("all matches everything; leave it out beside other filters".into()),
        };
    }
    let mut seen = Seen::default();
    for pair in pairs {
        let (key, value) = seen.take(pair, "errorCode=HTTP_503, or all for every parked one")?;
        let text = || Some(value.to_owned());
        match key {
            "type" => filter.channel = Some(channel(value)?),
            "from" => filter.from = Some(moment(value)?),
            "to" => filter.to = Some(moment(value)?),
            "q" => filter.keyword = text(),
            "status" => filter.status = vec![status(value)?],
            _ => match TextFilter::named(key).filter(|one| one.bulk) {
                Some(one) => filter.by.set(one, text()),
                None => return Err(format!("there is no filter {key:?}; there are {}", pair_keys())),
            },
        }
    }
    Ok(filter)
}

/// Which messages at a site, from `key=value` pairs.
pub fn parse_parked(pairs: &[String]) -> Result<ParkedFilter, String> {
    let (mut filter, mut seen) = (ParkedFilter::default(), Seen::default());
    for pair in pairs {
        let (key, value) = seen.take(pair, "target=erp")?;
        let text = || Some(value.to_owned());
        match key {
            "category" => filter.category = Some(value.parse()?),
            "target" => filter.target = text(),
            "errorCode" | "error-code" => filter.error_code = text(),
            "instance" => filter.instance = text(),
            "from" => filter.from = Some(moment(value)?),
            "to" => filter.to = Some(moment(value)?),
            _ => {
                return Err(format!(
                    "there is no filter {key:?}; there are category, target, errorCode, instance, from and to"
                ));
            }
        }
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_a_filter_of_parked_messages_and_what_is_not_one_is_named() {
        let pairs = [
            "category=externalsystem",
            "target=erp",
            "errorCode=HTTP_503",
            "from=2h",
        ]
        .map(String::from);
        let filter = parse_parked(&pairs).unwrap();
        assert_eq!(
            (filter.target.as_deref(), filter.error_code.as_deref()),
            (Some("erp"), Some("HTTP_503"))
        );
        assert!(filter.from.is_some() && filter.category.is_some());
        for bad in ["all", "colour=red", "category=Pigeon", "target="] {
            parse_parked(&[bad.to_owned()]).unwrap_err();
        }
    }

    #[test]
    fn every_key_that_help_names_is_taken() {
        for key in pair_keys().split(", ") {
            let value = match key {
                "status" => "Parked",
                "type" => "Email",
                "from" | "to" => "2h",
                _ => "x",
            };
            parse_pairs(&[format!("{key}={value}")]).unwrap();
        }
    }

    #[test]
    fn pairs_become_a_filter_and_what_is_not_one_is_named() {
        let pairs = ["type=webhook", "errorCode=HTTP_503", "from=2h"].map(String::from);
        let filter = parse_pairs(&pairs).unwrap();
        assert_eq!(filter.by.error_code.as_deref(), Some("HTTP_503"));
        assert!(
            parse_pairs(&["receipt=read".into()])
                .unwrap_err()
                .contains("receipt")
        );
        assert_eq!(filter.channel, Some(Channel::Webhook));
        assert!(filter.from.is_some());
        assert!(
            parse_pairs(&["colour=red".into()])
                .unwrap_err()
                .contains("colour")
        );
        assert!(parse_pairs(&["parked".into()]).unwrap_err().contains("parked"));
        assert_eq!(parse_pairs(&["all".into()]).unwrap(), Filter::default());
    }

    #[test]
    fn a_pair_without_a_value_a_second_one_of_a_key_and_all_beside_others_are_refused() {
        for (pairs, why) in [
            (&["q="][..], "no value"),
            (&["errorCode= "], "no value"),
            (&["errorCode=A", "errorCode=B"], "more than once"),
            (&["all", "errorCode=A"], "leave it out"),
        ] {
            let pairs: Vec<_> = pairs.iter().map(|&pair| pair.to_owned()).collect();
            assert!(parse_pairs(&pairs).unwrap_err().contains(why), "{pairs:?}");
        }
    }
}
