//! What is wrong with a submission: all of it at once, whoever finds it.
//!
//! Leaves to others: what a field may hold ([`Submission::problems`]), what an address looks like (`domain::address`), what a
//! kind of provider can send (`delivery`).
//! Always true: nothing is said that is only a guess from a field which is wrong itself.

use super::{Ingest, Listener};
use crate::directory::{Route, Served};
use domain::{Channel, Content, FieldError, LaneId, Submission, Target, address, submission::limit};
use std::collections::HashSet;
use store::outbox::NewNotification;

/// A submission as it was read from a request, and what was wrong with the request's fields.
#[derive(Debug, Clone)]
pub struct ReadSubmission {
    pub submission: Submission,
    pub problems: Vec<FieldError>,
}

impl From<Submission> for ReadSubmission {
    fn from(submission: Submission) -> Self {
        Self {
            submission,
            problems: vec![],
        }
    }
}

/// Every field that is wrong so far. One that is told is not told again by whoever looks at it next.
struct Problems(Vec<FieldError>);

impl Problems {
    fn told(&self, field: &str) -> bool {
        self.0.iter().any(|problem| problem.field == field)
    }

    fn add(&mut self, found: Vec<FieldError>) {
        if found.is_empty() {
            return;
        }
        let told: HashSet<_> = self.0.iter().map(|problem| problem.field.clone()).collect();
        let new = found.into_iter().filter(|problem| !told.contains(&problem.field));
        self.0.extend(new);
    }

    fn add_one(&mut self, field: &str, problem: impl Into<String>) {
        self.add(vec![FieldError::new(field, problem)]);
    }
}

/// Where a submission goes, as far as its fields say.
#[derive(Default)]
struct Destination {
    lane: Option<LaneId>,
    served: Option<Served>,
}

impl Ingest {
    /// Routes an item, which settles its channel, and names every field that is wrong; stores nothing.
    pub(crate) async fn check(
        &self,
        read: impl Into<ReadSubmission>,
        listener: Listener,
    ) -> store::Result<Result<NewNotification, Vec<FieldError>>> {
        let ReadSubmission {
            mut submission,
            problems,
        } = read.into();
        let mut bad = Problems(problems);
        let Destination { lane, served } = self.destination(&mut submission, &mut bad).await?;
        let content = &submission.content;
        let mut own = submission.problems();
        if content.target == Target::Provider && target_is_open(content, &bad) {
            own.retain(|problem| problem.field != "listName");
        }
        bad.add(own);
        if let Some(channel) = content.channel {
            let has_provider = served.is_some() || content.provider.is_some();
            bad.add(target_problems(content, channel, has_provider));
        }
        if let (Listener::Sender, Some(provider)) = (listener, served) {
            bad.add(self.provider_problems(content, provider));
        }
        Ok(match lane {
            Some(lane) if bad.0.is_empty() => Ok(NewNotification { submission, lane }),
            _ => Err(bad.0),
        })
    }

    /// Asks the directory, where the provider and the type can be asked about.
    async fn destination(
        &self,
        submission: &mut Submission,
        bad: &mut Problems,
    ) -> store::Result<Destination> {
        let content = &mut submission.content;
        // Before anybody looks for it.
        bad.add(content.provider_problem().into_iter().collect());
        let by_type_alone = content.provider.is_none();
        if bad.told("providerId") || by_type_alone && bad.told("type") {
            return Ok(Destination::default());
        }
        let route = self
            .directory
            .route(submission.tenant, content.provider.as_ref(), content.channel)
            .await?;
        Ok(match route {
            Route::Lane {
                lane,
                channel,
                served,
            } => {
                content.channel = Some(channel);
                Destination {
                    lane: Some(lane),
                    served,
                }
            }
            Route::UnknownProvider => {
                bad.add_one("providerId", "there is no such provider");
                Destination::default()
            }
            Route::OtherChannel { channel, served } => {
                let problem = format!("the provider named in providerId delivers {channel}");
                bad.add_one("type", problem);
                // Whoever corrects the type hears of the rest now.
                content.channel = Some(channel);
                Destination {
                    lane: None,
                    served: Some(served),
                }
            }
        })
    }

    /// What the provider it goes to has against it.
    fn provider_problems(&self, content: &Content, provider: Served) -> Vec<FieldError> {
        let mut problems = vec![];
        if content.provider.is_some() && !provider.enabled {
            problems.push(FieldError::new(
                "providerId",
                "this provider is switched off; without providerId the message waits, or another provider of the type takes it",
            ));
        }
        let kind = provider.kind.and_then(|kind| self.directory.registry().get(kind));
        problems.extend(kind.map(|kind| kind.problems(content)).unwrap_or_default());
        problems
    }
}

/// Whether it cannot be said yet that somebody to go to is missing: nobody knows the type, or whom it is for was given
/// badly and is told as that.
fn target_is_open(content: &Content, bad: &Problems) -> bool {
    content.channel.is_none() || bad.told("to") || bad.told("listName")
}

/// What is wrong with whom it goes to. A type that nobody serves is taken as it is, and parked for that.
fn target_problems(content: &Content, channel: Channel, has_provider: bool) -> Vec<FieldError> {
    if !channel.takes_recipients() {
        let field = match &content.target {
            Target::List(_) if has_provider => "listName",
            Target::Recipients(_) if has_provider => "to",
            _ => return vec![],
        };
        return vec![FieldError::new(field, address::no_recipients(channel))];
    }
    let Target::Recipients(to) = &content.target else {
        return vec![];
    };
    // More than these are one problem.
    let bad = to
        .iter()
        .enumerate()
        .take(limit::RECIPIENTS)
        .filter_map(|(i, address)| {
            let problem = address::problem(channel, address)?;
            Some(FieldError::new(format!("to[{i}]"), problem))
        });
    bad.collect()
}
