//! How answers look: tables and sentences for people, JSON for programs. No colour unless somebody is watching.

pub mod ask;
pub mod lanes;
pub mod progress;
pub mod rows;
pub mod table;
pub mod time;

pub use table::{Cells, table};

use serde::Serialize;
use std::io::{IsTerminal, Write};

/// The flag of every command that answers with something.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Format {
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// One line on standard output. A reader who has gone away is an error, not a panic.
pub fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// One JSON document on standard output.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string_pretty(value)?)
}

/// One JSON document on one line, for streams of them.
pub fn json_line(value: &impl Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string(value)?)
}

/// Something for whoever watches, that is not part of the answer.
pub fn note(text: impl std::fmt::Display) {
    // Nobody there to hear it is no reason to fail, let alone to panic.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether standard output is for eyes that like colour.
pub fn coloured() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
