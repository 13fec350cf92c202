//! Trying again when central does not answer. How long to wait is `domain::retry`'s to say.

use crate::{Error, Result};
use domain::{AttemptFacts, Failure, Jitter, OnAmbiguous, RetryPolicy, Scope, Verdict};
use std::time::Duration;

/// How often and how fast to ask again. Only for requests that are harmless to repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Again {
    policy: RetryPolicy,
}

impl Default for Again {
    /// Five tries, from a quarter of a second apart to two.
    fn default() -> Self {
        Self::tries(5)
    }
}

impl Again {
    /// So many tries in all; 0 means until it works.
    pub fn tries(n: u32) -> Self {
        Self {
            policy: RetryPolicy {
                interval: Duration::from_millis(250),
                cap: Duration::from_secs(2),
                max_attempts: n,
                ..RetryPolicy::exponential()
            },
        }
    }

    #[cfg(test)]
    pub(crate) fn at_once(n: u32) -> Self {
        let mut again = Self::tries(n);
        again.policy.interval = Duration::from_millis(1);
        again
    }

    /// How long to wait after the try of this number (1 for the first) failed like this; none to give up.
    pub fn wait(&self, number: u32, error: &Error) -> Option<Duration> {
        if !error.may_pass() {
            return None;
        }
        let asked = match error {
            // Whoever waits here is a person or a request; what takes longer is theirs to decide.
            Error::Server { retry_after, .. } => retry_after.map(|wait| wait.min(Duration::from_secs(5))),
            _ => None,
        };
        let facts = AttemptFacts {
            number,
            unknowns: 0,
            age: Duration::ZERO,
            on_ambiguous: OnAmbiguous::Resend,
            throttles: 0,
        };
        let failure = Failure::transient(Scope::Lane, "UNREACHABLE", "").after(asked);
        match self.policy.decide(facts, &failure, Jitter::random()) {
            Verdict::Retry { after } | Verdict::Postpone { after } => Some(after),
            Verdict::Wait { .. } | Verdict::Park(_) => None,
        }
    }

    /// Asks until there is an answer, a refusal, or no try left; the last error is the answer then.
    pub(crate) async fn run<T, Fut>(&self, mut ask: impl FnMut() -> Fut) -> Result<T>
    where
        Fut: Future<Output = Result<T>>,
    {
        let mut number = 1;
        loop {
            let error = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(wait) = self.wait(number, &error) else {
                return Err(error);
            };
            tokio::time::sleep(wait).await;
            number = number.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable() -> Error {
        Error::Unreachable {
            url: "http://x".into(),
            cause: "gone".into(),
        }
    }

    #[tokio::test]
    async fn it_asks_as_often_as_it_may_and_gives_the_last_error() {
        let mut asked = 0;
        let answer: Result<()> = Again::at_once(3)
            .run(|| {
                asked += 1;
                std::future::ready(Err(unreachable()))
            })
            .await;
        assert!(matches!(answer, Err(Error::Unreachable { .. })));
        assert_eq!(asked, 3);
    }

    #[test]
    fn a_refusal_is_not_asked_about_again() {
        let refused = Error::NotFound { detail: "x".into() };
        assert_eq!(Again::default().wait(1, &refused), None);
        assert!(Again::tries(0).wait(1_000_000, &unreachable()).is_some());
    }
}
