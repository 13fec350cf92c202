//! What `waypost waiting` and `waypost parked` do alike with the messages of a site.

use crate::output;
use client::Error;
use std::fmt::Display;

/// The most one page holds.
pub const PAGE: u32 = 500;

/// Several ids, one after the other: every id gets its turn, and the first failure decides how the command ends.
#[derive(Debug)]
pub struct Turns {
    alone: bool,
    failed: Option<Error>,
}

impl Turns {
    pub fn of(ids: &[String]) -> Self {
        Self {
            alone: ids.len() == 1,
            failed: None,
        }
    }

    /// Says what became of one, or why nothing did. Fails where the others would fare no better, or there are none.
    pub fn took(&mut self, id: &str, result: client::Result<impl Display>) -> anyhow::Result<()> {
        match result {
            Ok(what) => output::note(format_args!("{id} {what}")),
            Err(error) if self.alone || nobody_answers(&error) => return Err(error.into()),
            Err(error) => {
                output::note(format_args!("{id}: {error}"));
                self.failed.get_or_insert(error);
            }
        }
        Ok(())
    }

    pub fn end(self) -> anyhow::Result<()> {
        self.failed.map_or(Ok(()), |error| {
            Err(anyhow::Error::from(error).context("not all of them"))
        })
    }
}

fn nobody_answers(error: &Error) -> bool {
    matches!(
        error,
        Error::Unreachable { .. }
            | Error::Unauthorized { .. }
            | Error::SiteUnreachable { .. }
            | Error::SiteUnauthorized { .. }
    )
}

/// Says how many there are where fewer were shown.
pub fn note_total(shown: usize, total: u64) {
    if (shown as u64) < total {
        output::note(format_args!("{shown} of {total}"));
    }
}
