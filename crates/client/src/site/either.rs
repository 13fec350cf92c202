//! A site with two machines: what the one does not take is sent to the other.
//!
//! Always true: a call or write is sent to the other machine only when it is certain that the first did not take it.

use super::Site;
use crate::{Client, Error, Result};
use std::sync::atomic::Ordering;

/// Whether a message may be sent to the other machine when nobody knows whether the first has taken it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Central knows it by its id.
    Harmless,
    Never,
}

impl Site {
    /// Asks the machine that took the last message, and the other one where that does not take this.
    pub(super) async fn on_either<T, Fut>(&self, repeat: Repeat, ask: impl Fn(Client) -> Fut) -> Result<T>
    where
        Fut: Future<Output = Result<T>>,
    {
        let Some(other) = &self.other else {
            return ask(self.client.clone()).await;
        };
        let prefers_other = self.prefers_other.load(Ordering::Relaxed);
        let (first, second) = match prefers_other {
            true => (other, &self.client),
            false => (&self.client, other),
        };
        match ask(first.clone()).await {
            Err(error) if was_not_taken(&error) || repeat == Repeat::Harmless && error.may_pass() => {
                let asked = ask(second.clone()).await;
                match asked {
                    Ok(done) => {
                        self.prefers_other.store(!prefers_other, Ordering::Relaxed);
                        Ok(done)
                    }
                    // The first one may know better what is wrong than a machine that is not there.
                    Err(Error::Unreachable { .. } | Error::SiteUnreachable { .. }) => Err(error),
                    Err(other) => Err(other),
                }
            }
            done => done,
        }
    }

    /// Asks the one machine, and the other one where the first cannot say or what it says is not `enough`. The better answer of
    /// the two; nothing is changed by either.
    pub(super) async fn of_either<T, Fut>(
        &self,
        enough: impl Fn(&T) -> bool,
        ask: impl Fn(Client) -> Fut,
    ) -> Result<T>
    where
        Fut: Future<Output = Result<T>>,
    {
        let first = ask(self.client.clone()).await;
        let says_it = match &first {
            Ok(answer) => enough(answer),
            Err(error) => !error.may_pass(),
        };
        match &self.other {
            Some(other) if !says_it => match (first, ask(other.clone()).await) {
                (Ok(first), Ok(second)) => Ok(if enough(&second) { second } else { first }),
                (Err(_), Ok(second)) => Ok(second),
                (first, Err(_)) => first,
            },
            _ => first,
        }
    }
}

/// Whether the machine has certainly not taken it.
fn was_not_taken(error: &Error) -> bool {
    match error {
        Error::Unreachable { cause, .. } | Error::SiteUnreachable { cause, .. } => cause
            .downcast_ref::<reqwest::Error>()
            .is_some_and(reqwest::Error::is_connect),
        Error::Server { code, .. } | Error::Site { code, .. } => {
            matches!(code.as_str(), "standby" | "stopping")
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "either_tests.rs"]
mod tests;
