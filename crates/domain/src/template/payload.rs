//! What fills a template: an event's JSON, flattened.
//!
//! Always true: a number is the text it was written as; `guest.Phone`, `guestPhone`, `guest_phone` and `GUESTPHONE` are one
//! name; reading ends with a value or with words for a person, however the payload is made.

use super::limit;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// Why a payload cannot be used, in words for whoever finds the event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("the payload is not JSON from line {line} column {column}")]
    NotJson { line: usize, column: usize },
    #[error("the payload must be an object, not {0}")]
    NotAnObject(&'static str),
    #[error("the payload is nested deeper than {}", limit::DEPTH)]
    TooDeep,
    #[error("the payload has more than {} values", limit::VALUES)]
    TooManyValues,
}

/// Values by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload(BTreeMap<String, FlatValue>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct FlatValue {
    /// The path as it was written, with dots.
    name: String,
    /// None for `null`.
    text: Option<String>,
    depth: usize,
}

/// What a name is compared by: case, spaces and what separates its words do not count. Only two numbers stay apart, since
/// `rooms.1.0` is not `rooms.10`, nor is `line_1_0` `line_10`.
pub(super) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    let mut separated = false;
    for c in name.chars() {
        match c {
            '.' | '_' => separated = true,
            c if c.is_whitespace() => {}
            c => {
                let after_number = normal.ends_with(|last: char| last.is_ascii_digit());
                if separated && c.is_ascii_digit() && after_number {
                    normal.push('.');
                }
                separated = false;
                // Most names are ASCII, and a name is read for every value and every placeholder.
                match c.is_ascii() {
                    true => normal.push(c.to_ascii_lowercase()),
                    false => normal.extend(c.to_lowercase()),
                }
            }
        }
    }
    normal
}

impl Payload {
    /// Reads a JSON object. A list of plain values also reads as one text, separated by commas; an entry of a list is
    /// named by its place, from 0.
    pub fn read(json: &str) -> Result<Self, PayloadError> {
        let not_json = |e: serde_json::Error| PayloadError::NotJson {
            line: e.line(),
            column: e.column(),
        };
        serde_json::from_str::<IgnoredAny>(json).map_err(not_json)?;
        let mut reader = Reader {
            json,
            at: 0,
            path: String::new(),
            values: Self::default(),
        };
        reader.space();
        match reader.peek() {
            b'{' => reader.value(0)?,
            b'[' => return Err(PayloadError::NotAnObject("an array")),
            b'"' => return Err(PayloadError::NotAnObject("text")),
            b't' | b'f' => return Err(PayloadError::NotAnObject("true or false")),
            b'n' => return Err(PayloadError::NotAnObject("null")),
            _ => return Err(PayloadError::NotAnObject("a number")),
        };
        Ok(reader.values)
    }

    /// The value of this name; none when there is none, or `null`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&normal(name))?.text.as_deref()
    }

    /// Whether there is such a name, whatever its value.
    pub fn knows(&self, name: &str) -> bool {
        self.0.contains_key(&normal(name))
    }

    /// Puts a value in, in place of one of the same name.
    pub fn set(&mut self, name: &str, text: Option<String>) {
        let value = FlatValue {
            name: name.to_owned(),
            text,
            depth: 0,
        };
        self.0.insert(normal(name), value);
    }

    /// Takes over everything the other has; where both have a name, the other's value counts.
    pub fn overlay(&mut self, other: Payload) {
        self.0.extend(other.0);
    }

    /// The names as they were written, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(|value| value.name.as_str())
    }

    /// Of two values with one name the one less nested counts, and of two as deep the later.
    fn keep(&mut self, path: &str, text: Option<String>, depth: usize) -> Result<(), PayloadError> {
        if path.len() > limit::VALUE_NAME {
            return Ok(());
        }
        let name = normal(path);
        if self.0.get(&name).is_some_and(|kept| kept.depth < depth) {
            return Ok(());
        }
        let value = FlatValue {
            name: path.to_owned(),
            // No column and no far end takes it.
            text: text.map(|text| text.replace('\0', "")),
            depth,
        };
        self.0.insert(name, value);
        match self.0.len() > limit::VALUES {
            true => Err(PayloadError::TooManyValues),
            false => Ok(()),
        }
    }
}

/// Walks over JSON that is known to be sound. A parser would have made a number of a number's text.
struct Reader<'a> {
    json: &'a str,
    at: usize,
    path: String,
    values: Payload,
}

/// What was read.
enum Found {
    Plain(Option<String>),
    Nested,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.json.as_bytes().get(self.at).copied().unwrap_or(b' ')
    }

    fn space(&mut self) {
        let rest = &self.json.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    /// Reads a value and keeps it under the path it was found at.
    fn value(&mut self, depth: usize) -> Result<Found, PayloadError> {
        if depth > limit::DEPTH {
            return Err(PayloadError::TooDeep);
        }
        self.space();
        let found = match self.peek() {
            b'{' => self.members(depth)?,
            b'[' => self.entries(depth)?,
            b'"' => Found::Plain(Some(self.string()?)),
            _ => match self.word() {
                "null" => Found::Plain(None),
                word => Found::Plain(Some(word.to_owned())),
            },
        };
        if let (Found::Plain(text), true) = (&found, depth > 0) {
            self.values.keep(&self.path, text.clone(), depth)?;
        }
        Ok(found)
    }

    fn members(&mut self, depth: usize) -> Result<Found, PayloadError> {
        self.at += 1;
        while self.more(b'}') {
            let key = self.string()?;
            self.space();
            // The colon.
            self.at += 1;
            self.below(&key, depth)?;
        }
        Ok(Found::Nested)
    }

    fn entries(&mut self, depth: usize) -> Result<Found, PayloadError> {
        self.at += 1;
        let (mut plain, mut number) = (Some(vec![]), 0_usize);
        while self.more(b']') {
            let found = self.below(&number.to_string(), depth)?;
            match (&mut plain, found) {
                (Some(texts), Found::Plain(text)) => texts.extend(text),
                _ => plain = None,
            }
            number += 1;
        }
        Ok(plain.map_or(Found::Nested, |texts| Found::Plain(Some(texts.join(", ")))))
    }

    /// A value one level down.
    fn below(&mut self, key: &str, depth: usize) -> Result<Found, PayloadError> {
        let before = self.path.len();
        // A path that nobody can ask for does not grow further.
        if before <= limit::VALUE_NAME {
            if before > 0 {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
        let found = self.value(depth + 1);
        self.path.truncate(before);
        found
    }

    /// Moves to the next member or entry; or behind the end.
    fn more(&mut self, end: u8) -> bool {
        self.space();
        if self.peek() == b',' {
            self.at += 1;
            self.space();
        }
        let more = self.peek() != end;
        self.at += usize::from(!more);
        more
    }

    fn string(&mut self) -> Result<String, PayloadError> {
        let start = self.at;
        let bytes = self.json.as_bytes();
        self.at += 1;
        while self.peek() != b'"' && self.at < bytes.len() {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let token = self.json.get(start..self.at).unwrap_or_default();
        // Half a surrogate pair passes as JSON and is no text.
        serde_json::from_str(token).map_err(|_| {
            let before = self.json.get(..start).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            PayloadError::NotJson {
                line: before.matches('\n').count() + 1,
                column: start - line_start + 1,
            }
        })
    }

    fn word(&mut self) -> &str {
        let rest = &self.json[self.at..];
        let ends = |c: char| matches!(c, ',' | '}' | ']') || c.is_ascii_whitespace();
        let length = rest.find(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
