//! Reads a request's query parameters the way [`crate::fields`] reads a body: every problem at once, unknown
//! parameters refused by name, so that a misspelt filter never silently matches everything.

use crate::{
    fields::{NUL, TIMESTAMP, parse_timestamp},
    problem::{Problem, Result},
};
use axum::{
    extract::{FromRequestParts, Query},
    http::{Uri, request::Parts},
};
use domain::{FieldError, Timestamp, filter::problem_of_words};
use std::str::FromStr;

/// The parameters of one request. They are taken out one by one; what is left at the end is unknown.
#[derive(Debug, Default)]
pub struct Params {
    given: Vec<(String, String)>,
    problems: Vec<FieldError>,
}

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let mut params = Self::read(&parts.uri)?;
        // Read by `auth` on every route.
        params.take("tenant");
        Ok(params)
    }
}

impl Params {
    pub fn read(uri: &Uri) -> Result<Self> {
        let Query(given) = Query::try_from_uri(uri)
            .map_err(|_| Problem::field("query", "cannot be read; encode it as UTF-8 with %"))?;
        Ok(Self {
            given,
            problems: vec![],
        })
    }

    #[cfg(test)]
    pub fn for_test(uri: &str) -> Self {
        Self::read(&uri.parse().unwrap()).unwrap()
    }

    pub fn problem(&mut self, name: &str, problem: impl Into<String>) {
        self.problems.push(FieldError::new(name, problem));
    }

    /// All values of a parameter; empty ones count as not given.
    fn take(&mut self, name: &str) -> Vec<String> {
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.given)
            .into_iter()
            .partition(|(given, _)| given == name);
        self.given = left;
        taken
            .into_iter()
            .map(|(_, value)| value)
            .filter(|value| !value.is_empty())
            .collect()
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        let mut values = self.take(name);
        if values.len() > 1 {
            self.problem(name, "is given more than once");
        }
        if values.iter().any(|value| value.contains('\0')) {
            self.problem(name, NUL);
            return None;
        }
        values.pop()
    }

    /// Words to look for. Blanks alone count as not given, like nothing at all.
    pub fn words(&mut self, name: &str) -> Option<String> {
        let text = self.text(name).filter(|text| !text.trim().is_empty())?;
        if let Some(why) = problem_of_words(&text) {
            self.problem(name, why);
        }
        Some(text)
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

    /// Several values, separated by commas or given again.
    pub fn several<T: FromStr<Err: ToString>>(&mut self, name: &str) -> Vec<T> {
        let mut values = vec![];
        for text in self.take(name) {
            for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                match part.parse::<T>() {
                    Ok(value) => values.push(value),
                    Err(why) => self.problem(name, why.to_string()),
                }
            }
        }
        values
    }

    pub fn timestamp(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.text(name)?;
        let parsed = parse_timestamp(&text);
        if parsed.is_none() {
            self.problem(name, TIMESTAMP);
        }
        parsed
    }

    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.text(name)?.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => {
                self.problem(name, "must be true or false");
                None
            }
        }
    }

    /// Refuses the request if anything was wrong or is left over.
    pub fn finish(mut self) -> Result<()> {
        for (name, _) in std::mem::take(&mut self.given) {
            self.problem(&name, "is not a known parameter");
        }
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(Problem::fields(self.problems))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Status;

    #[test]
    fn several_values_come_by_comma_or_by_repetition() {
        let mut p = Params::for_test("/?status=Parked,pending&status=Retrying");
        let found: Vec<Status> = p.several("status");
        assert_eq!(found, [Status::Parked, Status::Pending, Status::Retrying]);
        p.finish().unwrap();
    }

    #[test]
    fn what_is_wrong_and_what_is_unknown_is_named_together() {
        let mut p = Params::for_test("/?from=yesterday&stuck=maybe&sort=up&site=");
        assert_eq!(p.timestamp("from"), None);
        assert_eq!(p.boolean("stuck"), None);
        assert_eq!(p.text("site"), None);
        let named: Vec<_> = p
            .finish()
            .unwrap_err()
            .errors
            .into_iter()
            .map(|e| e.field)
            .collect();
        assert_eq!(named, ["from", "stuck", "sort"]);
    }
}
