//! How the process ends: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 conflict, 5 central unreachable.

use crate::output::note;
use anyhow::Error;
use std::{io::ErrorKind, process::ExitCode};

pub const FAILED: u8 = 1;
pub const USAGE: u8 = 2;
pub const NOT_FOUND: u8 = 3;
pub const CONFLICT: u8 = 4;
pub const UNREACHABLE: u8 = 5;

/// A failure that says itself how the process is to end.
#[derive(Debug)]
pub struct Exit {
    code: u8,
    message: String,
}

impl std::error::Error for Exit {}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// What was asked for makes no sense.
pub fn usage(message: impl Into<String>) -> Error {
    let message = message.into();
    Exit { code: USAGE, message }.into()
}

pub fn not_found(message: impl Into<String>) -> Error {
    let message = message.into();
    Exit {
        code: NOT_FOUND,
        message,
    }
    .into()
}

pub fn conflict(message: impl Into<String>) -> Error {
    let message = message.into();
    Exit {
        code: CONFLICT,
        message,
    }
    .into()
}

/// The code an error ends the process with.
pub fn code(error: &Error) -> u8 {
    error.chain().find_map(one).unwrap_or(FAILED)
}

fn one(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(exit) = cause.downcast_ref::<Exit>() {
        return Some(exit.code);
    }
    if let Some(error) = cause.downcast_ref::<client::Error>() {
        return Some(match error {
            client::Error::NotFound { .. } => NOT_FOUND,
            client::Error::Conflict { .. } => CONFLICT,
            client::Error::Unreachable { .. } | client::Error::SiteUnreachable { .. } => UNREACHABLE,
            client::Error::Invalid { .. } | client::Error::Setup(_) => USAGE,
            _ => FAILED,
        });
    }
    match cause.downcast_ref::<store::Error>()? {
        store::Error::Conflict(_) | store::Error::Locked(_) => Some(CONFLICT),
        _ => Some(FAILED),
    }
}

/// Says what went wrong and how to end.
pub fn report(error: &Error) -> ExitCode {
    let broken_pipe = |e: &std::io::Error| e.kind() == ErrorKind::BrokenPipe;
    if error
        .chain()
        .any(|cause| cause.downcast_ref().is_some_and(broken_pipe))
    {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    note(format_args!("waypost: {error:#}"));
    if let Some(client::Error::Unauthorized { .. }) = error.downcast_ref() {
        note(
            "The key is read from WAYPOST_API_KEY; `waypost key create` makes one on the database itself. If it is \
             server.bootstrap_key, central's log says at the start why that is not in force.",
        );
    }
    if let Some(client::Error::SiteUnauthorized { .. }) = error.downcast_ref() {
        note(
            "The agent's token (its site.api_token) is read from WAYPOST_SITE_TOKEN, or from the file in --site-token-file.",
        );
    }
    ExitCode::from(code(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn the_code_is_found_under_any_context() {
        let missing = client::Error::NotFound { detail: "x".into() };
        assert_eq!(
            code(&Err::<(), _>(missing).context("showing it").unwrap_err()),
            NOT_FOUND
        );
        assert_eq!(code(&usage("no")), USAGE);
        assert_eq!(
            code(&Error::from(store::Error::Conflict("taken".into()))),
            CONFLICT
        );
        assert_eq!(code(&anyhow::anyhow!("boom")), FAILED);
    }
}
