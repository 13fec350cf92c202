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
    async fn where_one_machine_cannot_say_the_other_is_asked_and_the_better_answer_counts() {
        type Answer = fn() -> Result<&'static str>;
        let (standby, gone, unknown, known): (Answer, Answer, Answer, Answer) = (
            || Err(answered("standby")),
            || Err(Error::NotFound { detail: "it".into() }),
            || Ok("Unknown"),
            || Ok("Delivered"),
        );
        for (first, second, said) in [
            (standby, known, Some("Delivered")),
            (unknown, known, Some("Delivered")),
            (unknown, standby, Some("Unknown")),
            (standby, unknown, Some("Unknown")),
            (standby, standby, None),
            // Who can ask central and says that it is nowhere is believed.
            (gone, known, None),
        ] {
            let ask = |client: Client| {
                let answer = match client.url().contains(":1/") {
                    true => first(),
                    false => second(),
                };
                async move { answer }
            };
            let found = site().of_either(|found| *found != "Unknown", ask).await;
            assert_eq!(found.ok(), said);
        }
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
