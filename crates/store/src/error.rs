//! What a caller of the store can do about a failure.

/// A boxed cause, kept as `source` so that it is printed once in a chain.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached or gave up; the same call may work later.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The connection broke while committing: it may or may not have happened. Ask, do not guess.
    #[error("it is not known whether the store committed")]
    UnknownCommit(#[source] Cause),
    /// The store refused the data itself.
    #[error("the store refused the data: {0}")]
    Refused(String),
    /// What would be written contradicts what is there (a name that is taken, a provider that is in use).
    #[error("{0}")]
    Conflict(String),
    /// A row that no version of this program writes.
    #[error("corrupt row in {table}: {detail}")]
    Corrupt { table: &'static str, detail: String },
    /// The schema is newer than this program.
    #[error(
        "the database has schema version {found}, this waypost knows {known}; use the newer waypost that wrote it"
    )]
    NewerSchema { found: i64, known: i64 },
    /// Another process has the embedded database open.
    #[error("{0}")]
    Locked(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with stored JSON, without quoting any of it: it ends up in logs.
pub fn json_fault(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    let what = match error.classify() {
        Category::Io => "cannot be read",
        Category::Syntax => "is not JSON",
        Category::Data => "does not have the shape it should",
        Category::Eof => "ends too early",
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

impl Error {
    pub fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    pub fn corrupt(table: &'static str, detail: impl Into<String>) -> Self {
        Self::Corrupt {
            table,
            detail: detail.into(),
        }
    }

    /// Whether the same call may work later.
    pub fn may_pass(&self) -> bool {
        matches!(self, Error::Unavailable(_) | Error::UnknownCommit(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_json_is_said_without_quoting_it() {
        let error = serde_json::from_str::<u32>("\"a private matter\"").unwrap_err();
        assert!(error.to_string().contains("private"));
        assert_eq!(
            json_fault(&error),
            "does not have the shape it should (line 1, column 18)"
        );
    }
}
