//! What an attempt, or somebody's test, says about who is not to be asked for a while. Keeps nothing.

use super::key;
use domain::{Failure, Outcome, RetryPolicy, Scope};
use store::outbox::NewPause;

/// The failure that says something about the far end as a whole, if there is one.
pub(crate) fn lane_failure(outcome: &Outcome) -> Option<&Failure> {
    let about_lane =
        |f: &&Failure| f.is_lane_down() || f.hold.is_some() || (f.scope == Scope::Lane && f.is_throttled());
    match outcome {
        Outcome::Delivered(_) => None,
        Outcome::Failed(failure) => Some(failure).filter(about_lane),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|r| r.result.as_ref().err())
            .find(about_lane),
    }
}

/// What is not to be asked for in this lane for a while, because of what was said about a recipient or a template. `tries`: how
/// many were made before.
pub(crate) fn narrow(
    policy: &RetryPolicy,
    tries: u32,
    outcome: &Outcome,
    targets: &[String],
    template: Option<&str>,
) -> Vec<NewPause> {
    let pause = |name: Option<&str>, failure: &Failure| {
        if failure.scope == Scope::Lane {
            return None;
        }
        let name = match failure.scope {
            Scope::Template => template,
            _ => name,
        };
        Some(NewPause {
            key: key(failure.scope, name?),
            wait: policy.pause(failure, tries)?,
            reason: failure.code.to_string(),
        })
    };
    match outcome {
        Outcome::Delivered(_) => vec![],
        Outcome::Failed(failure) => match targets {
            [] => pause(None, failure).into_iter().collect(),
            targets => targets
                .iter()
                .filter_map(|address| pause(Some(address), failure))
                .collect(),
        },
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|report| pause(Some(&report.address), report.result.as_ref().err()?))
            .collect(),
    }
}
