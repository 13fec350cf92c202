//! The filter of a bulk action, as it is kept in the job's row.
//!
//! Always true: a filter with a word that this version does not know is not read at all. Leaving the word out would act
//! on more than somebody was asked about.

use crate::jobs::Action;
use domain::{Channel, IdRange, Status, TextFilter, TextFilters, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeMap};
use serde_json::{Map, Value};
use std::time::Duration;
use store::query::Filter;

/// Which rows, among those that the action is for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BulkFilter {
    /// Of what has ended, which are sent again; parked ones if none is named. The other actions are about one state each.
    pub ended_as: Vec<Status>,
    pub channel: Option<Channel>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub keyword: Option<String>,
    /// The id or its beginning, where what was looked for turned out to be one.
    pub id: Option<String>,
    /// Only those that a bulk action may go by are kept.
    pub by: TextFilters,
    /// Only rows that stood like this at that moment and have since. Set when they are counted, so that a job is about what
    /// somebody was told of.
    pub as_of: Option<Timestamp>,
}

impl BulkFilter {
    /// The rows that an action is for.
    pub fn rows_for(self, action: Action) -> Filter {
        let status = match action {
            Action::Retry | Action::Discard => vec![Status::Parked],
            Action::Cancel => vec![Status::Pending, Status::Retrying],
            Action::Resend if self.ended_as.is_empty() => vec![Status::Parked],
            Action::Resend => self.ended_as,
        };
        let mut filter = Filter {
            status,
            channel: self.channel,
            from: self.from,
            to: self.to,
            keyword: self.keyword,
            ids: self.id.as_deref().and_then(IdRange::of),
            by: self.by,
            ..Filter::default()
        };
        filter.ended_by = self.as_of;
        // What waits has not ended: what came in later is left out by when it came.
        if let (Action::Cancel, Some(as_of)) = (action, self.as_of) {
            let later = as_of + Duration::from_millis(1);
            filter.to = Some(filter.to.map_or(later, |to| to.min(later)));
        }
        filter
    }
}

impl Serialize for BulkFilter {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        if !self.ended_as.is_empty() {
            map.serialize_entry("status", &self.ended_as)?;
        }
        if let Some(channel) = self.channel {
            map.serialize_entry("type", &channel)?;
        }
        for (name, at) in [("from", self.from), ("to", self.to), ("asOf", self.as_of)] {
            if let Some(at) = at {
                map.serialize_entry(name, &at)?;
            }
        }
        if let Some(keyword) = &self.keyword {
            map.serialize_entry("q", keyword)?;
        }
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        for (one, text) in self.by.given().filter(|(one, _)| one.bulk) {
            map.serialize_entry(one.name, text)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for BulkFilter {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut filter = Self::default();
        for (name, value) in Map::deserialize(from)? {
            filter.put(&name, value).map_err(D::Error::custom)?;
        }
        Ok(filter)
    }
}

impl BulkFilter {
    fn put(&mut self, name: &str, value: Value) -> Result<(), String> {
        let wrong = |e: serde_json::Error| format!("{name}: {e}");
        match name {
            "status" => self.ended_as = serde_json::from_value(value).map_err(wrong)?,
            "type" => self.channel = serde_json::from_value(value).map_err(wrong)?,
            "from" => self.from = serde_json::from_value(value).map_err(wrong)?,
            "to" => self.to = serde_json::from_value(value).map_err(wrong)?,
            "asOf" => self.as_of = serde_json::from_value(value).map_err(wrong)?,
            "q" => self.keyword = serde_json::from_value(value).map_err(wrong)?,
            "id" => {
                let id: String = serde_json::from_value(value).map_err(wrong)?;
                if IdRange::of(&id).is_none() {
                    return Err("id: is no id".to_owned());
                }
                self.id = Some(id);
            }
            other => match TextFilter::in_bulk().find(|one| one.name == other) {
                Some(one) => self.by.set(one, serde_json::from_value(value).map_err(wrong)?),
                None => return Err(format!("unknown field `{other}`")),
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_about_the_states_that_allow_it() {
        let as_of = Timestamp::from_millis(1000);
        let filter = BulkFilter {
            ended_as: vec![Status::Delivered],
            as_of: Some(as_of),
            ..BulkFilter::default()
        };
        let rows = |action| filter.clone().rows_for(action);
        assert_eq!(rows(Action::Retry).status, [Status::Parked]);
        assert_eq!(rows(Action::Discard).ended_by, Some(as_of));
        assert_eq!(rows(Action::Resend).status, [Status::Delivered]);
        let waiting = rows(Action::Cancel);
        assert_eq!(waiting.status, [Status::Pending, Status::Retrying]);
        assert_eq!(
            (waiting.to, waiting.ended_by),
            (Some(Timestamp::from_millis(1001)), Some(as_of))
        );
    }

    #[test]
    fn a_filter_kept_by_any_version_is_read_and_one_that_is_not_understood_is_refused() {
        let kept = r#"{"type":"Email","from":"2026-01-01T00:00:00.000Z","q":"pump","site":"north","errorCode":"X","id":"0198f3c2"}"#;
        let filter: BulkFilter = serde_json::from_str(kept).unwrap();
        assert_eq!(filter.by.site.as_deref(), Some("north"));
        let again = serde_json::to_string(&filter).unwrap();
        assert_eq!(serde_json::from_str::<BulkFilter>(&again).unwrap(), filter);
        for newer in [
            r#"{"colour":"red"}"#,
            r#"{"receipt":"read"}"#,
            r#"{"site":7}"#,
            r#"{"id":"pump"}"#,
        ] {
            serde_json::from_str::<BulkFilter>(newer).unwrap_err();
        }
    }
}
