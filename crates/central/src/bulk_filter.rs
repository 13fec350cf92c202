//! The filter of a bulk action, as it is kept in the job's row.
//!
//! Always true: a filter with a word that this version does not know is not read at all. Leaving the word out would act
//! on more than somebody was asked about.

use domain::{Channel, Status, TextFilter, TextFilters, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeMap};
use serde_json::{Map, Value};
use store::query::Filter;

/// Which parked rows. Bulk actions only ever touch parked rows, so there is no status in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BulkFilter {
    pub channel: Option<Channel>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub keyword: Option<String>,
    /// Only those that a bulk action may go by are kept.
    pub by: TextFilters,
    /// Only rows that were parked at this moment and have been since. Set when they are counted, so that a job is
    /// about what somebody was told of.
    pub as_of: Option<Timestamp>,
}

impl BulkFilter {
    pub fn parked(self) -> Filter {
        Filter {
            status: vec![Status::Parked],
            channel: self.channel,
            from: self.from,
            to: self.to,
            keyword: self.keyword,
            by: self.by,
            ended_by: self.as_of,
            ..Filter::default()
        }
    }
}

impl Serialize for BulkFilter {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
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
            "type" => self.channel = serde_json::from_value(value).map_err(wrong)?,
            "from" => self.from = serde_json::from_value(value).map_err(wrong)?,
            "to" => self.to = serde_json::from_value(value).map_err(wrong)?,
            "asOf" => self.as_of = serde_json::from_value(value).map_err(wrong)?,
            "q" => self.keyword = serde_json::from_value(value).map_err(wrong)?,
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
    fn a_filter_kept_by_any_version_is_read_and_one_that_is_not_understood_is_refused() {
        let kept =
            r#"{"type":"Email","from":"2026-01-01T00:00:00.000Z","q":"pump","site":"north","errorCode":"X"}"#;
        let filter: BulkFilter = serde_json::from_str(kept).unwrap();
        assert_eq!(filter.by.site.as_deref(), Some("north"));
        let again = serde_json::to_string(&filter).unwrap();
        assert_eq!(serde_json::from_str::<BulkFilter>(&again).unwrap(), filter);
        for newer in [r#"{"colour":"red"}"#, r#"{"receipt":"read"}"#, r#"{"site":7}"#] {
            serde_json::from_str::<BulkFilter>(newer).unwrap_err();
        }
    }
}
