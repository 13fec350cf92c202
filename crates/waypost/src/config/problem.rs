//! What is wrong with a configuration: all of it at once, each with the key, where it came from and what it takes.

use super::key::Key;
use std::fmt;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub key: String,
    pub what: String,
    /// Where the value came from; empty when that says nothing.
    pub origin: String,
}

impl Problem {
    pub fn new(key: &str, what: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            what: what.into(),
            origin: String::new(),
        }
    }

    /// A value the key does not take.
    pub fn takes(key: &Key, found: impl fmt::Display) -> Self {
        let what = match key.mask("") {
            shown if shown.is_empty() => format!("{found} will not do; it takes {}", key.takes),
            _ => format!("the value will not do; it takes {}", key.takes),
        };
        Self::new(key.name, what)
    }

    pub fn from(mut self, origin: impl Into<String>) -> Self {
        self.origin = origin.into();
        self
    }
}

/// Everything that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems(pub Vec<Problem>);

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => write!(f, "the configuration has a problem:")?,
            n => write!(f, "the configuration has {n} problems:")?,
        }
        for Problem { key, what, origin } in &self.0 {
            match origin.as_str() {
                "" => write!(f, "\n  {key}: {what}")?,
                origin => write!(f, "\n  {key} ({origin}): {what}")?,
            }
        }
        Ok(())
    }
}

/// The known name nearest to a misspelt one, if one is near.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (distance(name, k), k))
        .min()
        .filter(|(d, k)| *d <= 2 + k.len() / 8)
        .map(|(_, k)| k)
}

/// Insertions, deletions and replacements from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_recognised_and_a_strange_one_is_not() {
        let known = || ["server.listen", "outbox.lease", "outbox.purge_interval"].into_iter();
        assert_eq!(nearest("server.lisen", known()), Some("server.listen"));
        assert_eq!(nearest("outbox.leese", known()), Some("outbox.lease"));
        assert_eq!(nearest("colour", known()), None);
    }
}
