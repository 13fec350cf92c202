//! What happened, in order, with simulated times.

use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, Default)]
pub struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub fn say(&self, what: impl AsRef<str>) {
        let at = turmoil::sim_elapsed().unwrap_or_default().as_millis();
        self.0.lock().unwrap().push(format!("{at:>7} {}", what.as_ref()));
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A whole run.
#[derive(Debug)]
pub struct History {
    pub lines: Vec<String>,
    pub verdict: Result<(), String>,
}

impl History {
    pub fn tail(&self, n: usize) -> String {
        self.lines[self.lines.len().saturating_sub(n)..].join("\n")
    }
}
