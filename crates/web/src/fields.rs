//! Reads JSON objects field by field and collects every problem, instead of stopping at the first.
//!
//! Always true: `null` means "not given"; a field nobody asked for is a problem of its own, by name; a text has no NUL, which
//! PostgreSQL cannot store.

use domain::{FieldError, Timestamp, content::ContentSource, retry::parse_human};
use serde_json::{Map, Value};
use std::{str::FromStr, time::Duration};
use uuid::Uuid;

/// An object being read. Fields are taken out one by one; what is left at the end is unknown.
#[derive(Debug)]
pub struct Fields {
    map: Map<String, Value>,
    prefix: String,
    problems: Vec<FieldError>,
}

impl Fields {
    pub fn new(map: Map<String, Value>) -> Self {
        Self {
            map,
            prefix: String::new(),
            problems: vec![],
        }
    }

    /// Reads an object found inside another one; its fields are named with `prefix`.
    pub fn nested(map: Map<String, Value>, prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            ..Self::new(map)
        }
    }

    pub fn problem(&mut self, field: &str, problem: impl Into<String>) {
        let field = format!("{}{field}", self.prefix);
        self.problems.push(FieldError::new(field, problem));
    }

    /// The problems so far and one for each field that was not asked for.
    pub fn finish(mut self) -> Vec<FieldError> {
        for name in std::mem::take(&mut self.map).keys() {
            self.problem(name, "is not a known field");
        }
        self.problems
    }

    pub fn add_all(&mut self, problems: Vec<FieldError>) {
        self.problems.extend(problems);
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name).filter(|value| !value.is_null())
    }

    /// For a field in which `null` says something: that there is to be none. Reads it as `read` does; none where nothing is said.
    pub fn or_null<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self, &str) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.map.get(name)? {
            Value::Null => {
                self.map.remove(name);
                Some(None)
            }
            _ => Some(read(self, name)),
        }
    }

    pub fn any(&mut self, name: &str) -> Option<Value> {
        self.take(name)
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(self.storable(name, text)),
            other => self.wrong(name, "text", &other),
        }
    }

    /// Refuses a NUL. What is left of the text is read on, so that the field is not called missing besides.
    fn storable(&mut self, name: &str, text: String) -> String {
        if !text.contains('\0') {
            return text;
        }
        self.problem(name, NUL);
        text.replace('\0', "")
    }

    /// A field with two names. Both at once is a problem.
    pub fn text_or_alias(&mut self, name: &str, alias: &str) -> Option<String> {
        let both = (self.text(name), self.text(alias));
        if let (Some(_), Some(_)) = both {
            self.problem(alias, format!("is another name for {name}; give one of them"));
        }
        both.0.or(both.1)
    }

    pub fn any_or_alias(&mut self, name: &str, alias: &str) -> Option<Value> {
        let both = (self.any(name), self.any(alias));
        if let (Some(_), Some(_)) = both {
            self.problem(alias, format!("is another name for {name}; give one of them"));
        }
        both.0.or(both.1)
    }

    /// Text that reads as a `T`; the problem is the parser's own words.
    pub fn parsed<T: FromStr<Err: ToString>>(&mut self, name: &str) -> Option<T> {
        match self.text(name)?.parse() {
            Ok(value) => Some(value),
            Err(why) => {
                self.problem(name, why.to_string());
                None
            }
        }
    }

    pub fn uuid(&mut self, name: &str) -> Option<Uuid> {
        let text = self.text(name)?;
        let parsed = Uuid::try_parse(&text).ok();
        if parsed.is_none() {
            self.problem(name, "must be a UUID");
        }
        parsed
    }

    pub fn timestamp(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.text(name)?;
        let parsed = parse_timestamp(&text);
        if parsed.is_none() {
            self.problem(name, TIMESTAMP);
        }
        parsed
    }

    pub fn duration(&mut self, name: &str) -> Option<Duration> {
        let parsed = match self.take(name)? {
            Value::String(text) => parse_human(&text),
            Value::Number(number) => parse_human(&number.to_string()),
            other => return self.wrong(name, "a duration like \"10s\"", &other),
        };
        parsed.map_err(|why| self.problem(name, why)).ok()
    }

    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(value) => Some(value),
            other => self.wrong(name, "true or false", &other),
        }
    }

    pub fn number(&mut self, name: &str) -> Option<f64> {
        match self.take(name)? {
            Value::Number(number) => number.as_f64(),
            other => self.wrong(name, "a number", &other),
        }
    }

    pub fn integer<T: TryFrom<i64>>(&mut self, name: &str) -> Option<T> {
        let value = self.take(name)?;
        let Some(number) = value.as_i64() else {
            return self.wrong(name, "a whole number", &value);
        };
        let fits = T::try_from(number).ok();
        if fits.is_none() {
            self.problem(name, format!("{number} is out of range"));
        }
        fits
    }

    pub fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        match self.take(name)? {
            Value::Object(map) => Some(map),
            other => self.wrong(name, "an object", &other),
        }
    }

    pub fn array(&mut self, name: &str) -> Option<Vec<Value>> {
        match self.take(name)? {
            Value::Array(items) => Some(items),
            other => self.wrong(name, "an array", &other),
        }
    }

    pub fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let items = self.array(name)?;
        let mut texts = Vec::with_capacity(items.len());
        for (i, item) in items.into_iter().enumerate() {
            match item {
                Value::String(text) => texts.push(self.storable(&format!("{name}[{i}]"), text)),
                other => {
                    self.wrong::<()>(&format!("{name}[{i}]"), "text", &other);
                    texts.push(String::new());
                }
            }
        }
        Some(texts)
    }

    /// For a field that must be there.
    pub fn require<T>(&mut self, name: &str, value: Option<T>) -> Option<T> {
        let named = format!("{}{name}", self.prefix);
        if value.is_none() && !self.problems.iter().any(|p| p.field == named) {
            self.problem(name, "is required");
        }
        value
    }

    fn wrong<T>(&mut self, name: &str, wanted: &str, found: &Value) -> Option<T> {
        self.problem(name, format!("must be {wanted}, not {}", kind(found)));
        None
    }
}

/// The second name that some fields of the content have.
fn alias(name: &str) -> Option<&'static str> {
    match name {
        "subject" => Some("title"),
        "body" => Some("message"),
        "typeData" => Some("data"),
        _ => None,
    }
}

impl ContentSource for Fields {
    fn text(&mut self, name: &'static str) -> Option<String> {
        match alias(name) {
            Some(alias) => self.text_or_alias(name, alias),
            None => Fields::text(self, name),
        }
    }

    fn needed_text(&mut self, name: &'static str) -> String {
        let text = ContentSource::text(self, name);
        self.require(name, text).unwrap_or_default()
    }

    fn time(&mut self, name: &'static str) -> Option<Timestamp> {
        self.timestamp(name)
    }

    fn json(&mut self, name: &'static str) -> Option<String> {
        let value = match alias(name) {
            Some(alias) => self.any_or_alias(name, alias),
            None => self.any(name),
        };
        value.map(|value| value.to_string())
    }
}

/// What is said of a text with a NUL.
pub const NUL: &str = "must not contain a NUL character";

pub const TIMESTAMP: &str = Timestamp::EXPECTED;

/// A moment in RFC 3339, inside the years a calendar can show.
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    text.parse::<Timestamp>().ok()
}

/// What a JSON value is, in words.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Fields {
        match value {
            Value::Object(map) => Fields::new(map),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_bad_field_is_collected_and_unknown_ones_are_named() {
        let mut f = fields(json!({"a": 1, "b": "x", "c": "nonsense", "d": ["x", 2], "e": null, "z": 1}));
        assert_eq!(f.text("a"), None);
        assert_eq!(f.text("b"), Some("x".into()));
        assert_eq!(f.timestamp("c"), None);
        assert_eq!(f.texts("d"), Some(vec!["x".into(), String::new()]));
        assert_eq!(f.boolean("e"), None);
        let named: Vec<_> = f.finish().into_iter().map(|p| p.field).collect();
        assert_eq!(named, ["a", "c", "d[1]", "z"]);
    }

    #[test]
    fn a_nul_in_a_text_is_a_problem_of_that_field_alone() {
        let mut f = fields(json!({"a": "x\0", "b": ["fine", "\0"], "c": {"free": "\0"}}));
        let a = f.text("a");
        f.require("a", a);
        f.texts("b");
        assert_eq!(
            f.any("c"),
            Some(json!({"free": "\0"})),
            "kept as JSON, which escapes it"
        );
        let named: Vec<_> = f.finish().into_iter().map(|p| (p.field, p.problem)).collect();
        assert_eq!(named, [("a".into(), NUL.into()), ("b[1]".into(), NUL.into())]);
    }

    #[test]
    fn a_missing_field_is_told_from_a_bad_one() {
        let mut f = fields(json!({"a": 1}));
        let a = f.text("a");
        f.require("a", a);
        f.require::<()>("b", None);
        let problems = f.finish();
        assert_eq!(problems[0].problem, "must be text, not a number");
        assert_eq!(
            (problems[1].field.as_str(), problems[1].problem.as_str()),
            ("b", "is required")
        );
        assert_eq!(problems.len(), 2);
    }
}
