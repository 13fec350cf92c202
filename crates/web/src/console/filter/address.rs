//! Addresses under construction.

use std::fmt::Write;

/// The end of an address under construction.
#[derive(Debug, Default)]
pub struct Query(pub String);

impl Query {
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return;
        };
        if !self.0.is_empty() {
            self.0.push('&');
        }
        let _ = write!(self.0, "{name}={}", crate::api::lists::encode(value));
    }
}
