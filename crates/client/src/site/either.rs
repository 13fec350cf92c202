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
mod tests {
    use super::*;

    fn site() -> Site {
        let at = |url| Site::from(Client::new(url, "").unwrap());
        at("http://127.0.0.1:1").or(at("http://127.0.0.1:2"))
    }

    fn answered(code: &str) -> Error {
        Error::Server {
            status: 503,
            code: code.into(),
            detail: String::new(),
            retry_after: None,
        }
    }

    #[tokio::test]
    async fn a_standby_is_passed_over_and_the_other_is_asked_first_from_then_on() {
        let site = site();
        let asked = std::sync::Mutex::new(vec![]);
        for _ in 0..2 {
            let done = site.on_either(Repeat::Never, |client: Client| {
                asked.lock().unwrap().push(client.url().to_owned());
                async move {
                    match client.url().contains(":1") {
                        true => Err(answered("standby")),
                        false => Ok(()),
                    }
                }
            });
            done.await.unwrap();
        }
        let (one, two) = ("http://127.0.0.1:1/", "http://127.0.0.1:2/");
        assert_eq!(*asked.lock().unwrap(), [one, two, two]);
    }

    #[tokio::test]
    async fn what_may_have_been_taken_goes_to_the_other_only_where_a_repeat_is_harmless() {
        for (repeat, times) in [(Repeat::Never, 1), (Repeat::Harmless, 2)] {
            let asked = std::sync::atomic::AtomicUsize::new(0);
            let done = site()
                .on_either(repeat, |_| {
                    asked.fetch_add(1, Ordering::SeqCst);
                    async { Err::<(), _>(answered("unavailable")) }
                })
                .await;
            assert!(done.is_err());
            assert_eq!(asked.load(Ordering::SeqCst), times, "{repeat:?}");
        }
    }
}
