//! Lists, as TOML writes them and as one line in an environment variable: `a, b`.

use serde::{
    Deserializer,
    de::{SeqAccess, Visitor},
};
use std::fmt;

pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    d.deserialize_any(Texts)
}

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of texts")
    }

    fn visit_str<E>(self, line: &str) -> Result<Self::Value, E> {
        // An environment variable may also be written the way the file is.
        let line = line.trim().trim_start_matches('[').trim_end_matches(']');
        let parts = line
            .split([',', '\n'])
            .map(|part| part.trim().trim_matches(['"', '\'']));
        Ok(parts.filter(|part| !part.is_empty()).map(String::from).collect())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut all = vec![];
        while let Some(one) = seq.next_element()? {
            all.push(one);
        }
        Ok(all)
    }
}
