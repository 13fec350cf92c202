//! `[database]`: where the rows are.

use super::{
    key::{Key, without_password},
    problem::Problem,
    secret::{Secret, Twin},
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    #[serde(skip_serializing)]
    pub url: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_file: Option<PathBuf>,
}

/// What is used when nothing is said.
pub const DEFAULT_URL: &str = "sqlite://data/waypost.db";

pub const URL: Key = Key::new(
    "database.url",
    "sqlite://PATH or postgres://USER:PASSWORD@HOST[,HOST…]/NAME",
    "Where everything is kept. Embedded by default; PostgreSQL when one machine is not enough.",
)
.url();
pub const URL_FILE: Key = Key::new(
    "database.url_file",
    "the path of a file",
    "The same, read from a file.",
)
.example("/run/secrets/database_url");

pub const KEYS: &[Key] = &[URL, URL_FILE];

/// A database as its URL names it.
#[derive(Debug, Clone)]
pub enum Place {
    /// A file of our own.
    Embedded(PathBuf),
    Postgres(Secret),
}

impl Database {
    pub fn problems(&self) -> Vec<Problem> {
        self.place().err().into_iter().collect()
    }

    /// Where the database is.
    pub fn place(&self) -> Result<Place, Problem> {
        let twin = Twin {
            key: &URL,
            file_key: &URL_FILE,
            given: self.url.as_ref(),
            file: self.url_file.as_deref(),
        };
        let url = twin.read()?.unwrap_or_else(|| Secret::new(DEFAULT_URL));
        Place::parse(url.expose())
    }
}

impl Place {
    pub fn parse(url: &str) -> Result<Self, Problem> {
        match url.split_once("://") {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Place::Embedded(PathBuf::from(path))),
            Some(("postgres" | "postgresql", rest)) if !rest.is_empty() => {
                Ok(Place::Postgres(Secret::new(url)))
            }
            _ => Err(Problem::takes(&URL, format!("{:?}", without_password(url)))),
        }
    }

    /// The folder an embedded database is in.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Place::Embedded(path) => Some(match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            }),
            Place::Postgres(_) => None,
        }
    }

    /// As it may be printed.
    pub fn shown(&self) -> String {
        match self {
            Place::Embedded(path) => format!("sqlite://{}", path.display()),
            Place::Postgres(url) => without_password(url.expose()),
        }
    }
}
