//! Fields that were refused, in the words of the API, and the checks that find them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One field that was refused. Shown, it reads `subject: must be at most 1000 characters`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    pub field: String,
    pub problem: String,
}

impl FieldError {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.problem),
            field => write!(f, "{field}: {}", self.problem),
        }
    }
}

/// Several of them in one line: `listName: must not be blank; body: is required`.
pub fn in_words(problems: &[FieldError]) -> String {
    let each: Vec<_> = problems.iter().map(ToString::to_string).collect();
    each.join("; ")
}

/// What is wrong so far.
#[derive(Debug, Default)]
pub(crate) struct FieldChecks(pub Vec<FieldError>);

impl FieldChecks {
    pub fn push(&mut self, field: &str, problem: impl Into<String>) {
        self.0.push(FieldError::new(field, problem));
    }

    /// A text of at most so many characters.
    pub fn text(&mut self, field: &str, value: Option<&str>, longest: usize) {
        let Some(value) = value else { return };
        // Bytes first: counting characters of a megabyte to refuse it would be work for nothing.
        if value.len() > longest && value.chars().count() > longest {
            self.push(field, format!("must be at most {longest} characters"));
        }
        self.no_nul(field, value);
    }

    /// A text of at most so many bytes.
    pub fn bytes(&mut self, field: &str, value: Option<&str>, longest: usize) {
        let Some(value) = value else { return };
        if value.len() > longest {
            self.push(field, format!("must be at most {longest} bytes"));
        }
        self.no_nul(field, value);
    }

    fn no_nul(&mut self, field: &str, value: &str) {
        if value.as_bytes().contains(&0) {
            self.push(field, "must not contain a NUL character");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_reads_as_one_line() {
        let bad = [
            FieldError::new("listName", "must not be blank"),
            FieldError::new("body", "is required"),
        ];
        assert_eq!(bad[0].to_string(), "listName: must not be blank");
        assert_eq!(in_words(&bad), "listName: must not be blank; body: is required");
        assert_eq!(in_words(&[]), "");
    }
}
