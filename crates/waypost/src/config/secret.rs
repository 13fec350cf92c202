//! Values that must not be seen, and the file that may hold them instead.

use super::{key::Key, problem::Problem};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};
use std::{fmt, path::Path};

/// A value that is not printed, neither by `{:?}` nor in an error.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(super::key::MASK)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d).map(Self::new)
    }
}

/// A secret that is given in one key or read from the file another key names, never both.
#[derive(Debug, Clone, Copy)]
pub struct Twin<'a> {
    pub key: &'static Key,
    pub file_key: &'static Key,
    pub given: Option<&'a Secret>,
    pub file: Option<&'a Path>,
}

impl Twin<'_> {
    /// The secret, without the line end a file has. None when neither key is set.
    pub fn read(&self) -> Result<Option<Secret>, Problem> {
        let (key, secret) = match (self.given, self.file) {
            (Some(_), Some(_)) => {
                let what = format!("is set as well as {}; keep one of them", self.file_key.name);
                return Err(Problem::new(self.key.name, what));
            }
            (None, None) => return Ok(None),
            (Some(secret), None) => (self.key, secret.clone()),
            (None, Some(file)) => (self.file_key, read_file(self.file_key, file)?),
        };
        match secret.expose().is_empty() {
            true => Err(Problem::new(
                key.name,
                "must not be empty; leave the key out instead",
            )),
            false => Ok(Some(secret)),
        }
    }
}

fn read_file(key: &Key, file: &Path) -> Result<Secret, Problem> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Secret::new(text.trim_end_matches(['\r', '\n']))),
        Err(e) => Err(Problem::new(
            key.name,
            format!("cannot read {}: {e}", file.display()),
        )),
    }
}
