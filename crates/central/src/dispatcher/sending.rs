//! Sending one row: whom it is for now, and one request or several.
//! Leaves to others: many recipients, each a request of its own ([`chunks`]).

mod chunks;
mod noted;
mod recipients;

use super::{
    attempt::{AttemptContext, AttemptResult, Outgoing, Row, Sent, Start, park},
    gate::Turn,
    recorder::Feedback,
    suppressed::{Standing, Suppressed},
};
use crate::{
    directory::{LaneAdapter, LaneEntry},
    opted_out,
};
use chunks::chunk_size;
use delivery::{Adapter, Attempt, Deadline, Message, Recorder};
use domain::{
    Channel, Content, Failure, OnAmbiguous, Outcome, Scope, Target, Timestamp,
    code::{AMBIGUOUS, EXPIRED, TIMEOUT, UNKNOWN},
    field_error::in_words,
    recipient::open_targets,
    settle::{Cause, EXPIRED_IN_WORDS, settle_without_targets},
};
use futures_util::FutureExt;
use recipients::{Open, left_out, not_now, split_by_time, unreadable};
use std::{panic::AssertUnwindSafe, time::Duration};
use tokio::time::Instant;

/// What is being sent, and who writes down what is said.
#[derive(Clone, Copy)]
struct Written<'a> {
    row: &'a Row,
    entry: &'a LaneEntry,
    recorder: &'a Recorder,
    turn: &'a Turn,
}

impl AttemptContext {
    pub(super) async fn send(
        &self,
        row: &mut Row,
        mut outgoing: Outgoing,
        entry: &LaneEntry,
        start: &Start,
        suppressed: &Suppressed,
    ) -> AttemptResult {
        let LaneAdapter::Ready(adapter) = &entry.adapter else {
            return without_adapter(entry);
        };
        let open = match self
            .targets(row, &mut outgoing.content, start.now, suppressed)
            .await
        {
            Ok(open) => open,
            Err(over) => return over,
        };
        let nobody_named = open.is_empty();
        let Open { now, later } = split_by_time(open, row, start);
        let message = outgoing.message(row, now);
        if let Some((until, cause)) = not_now(&message, &**adapter, start) {
            return postponed(&message.content, until, cause);
        }
        if let (true, false, Some((until, cause))) = (message.targets.is_empty(), nobody_named, &later) {
            return postponed(&message.content, *until, cause.clone());
        }
        if Instant::now() > start.by {
            // The process slept, or was stopped, since the claim: the row may be somebody else's by now.
            return AttemptResult::Release;
        }
        self.tell_requests(row, entry, &**adapter, message.targets.len());
        let recorder = self.transcripts.recorder();
        let attempt = Written {
            row,
            entry,
            recorder: &recorder,
            turn: &start.turn,
        };
        let asked = match chunk_size(row, entry, &**adapter, message.targets.len()) {
            None => self.send_at_once(attempt, &**adapter, &message).await.into(),
            // Apart: few need its room, and every attempt would carry it.
            Some(size) => Box::pin(self.send_in_chunks(attempt, &**adapter, &message, size)).await,
        };
        row.reopened = asked.reopened;
        let Some(outcome) = asked.outcome else {
            return nobody_asked(row, start);
        };
        AttemptResult::Sent(Sent {
            transcript: self
                .transcripts
                .keep(row.lane, &outcome, &recorder, Instant::now()),
            template: of_template(&outcome).then(|| message.template_name()).flatten(),
            opted_out: opted_out::entries(entry.opt_outs, &outcome, &message.targets, &message.content),
            targets: message.targets,
            outcome,
            later,
            noted: asked.noted,
        })
    }

    /// A lane's rate counts requests: the plan counted one for the row.
    fn tell_requests(&self, row: &Row, entry: &LaneEntry, adapter: &dyn Adapter, targets: usize) {
        if targets > 1 && entry.limits.per_second.is_some() && adapter.asks_one_by_one() {
            // The dispatcher is gone only when the process is going.
            let _ = self.feedback.send(Feedback::Requests {
                lane: row.lane,
                more: targets - 1,
            });
        }
    }

    async fn send_at_once(
        &self,
        of: Written<'_>,
        adapter: &dyn Adapter,
        message: &Message,
    ) -> Option<Outcome> {
        let attempt = Attempt {
            deadline: Deadline::after(self.timeout),
            generation: of.row.generation,
            recorder: of.recorder.clone(),
            stop: of.turn.stop(),
        };
        tokio::select! {
            biased;
            () = self.abandon.cancelled() => given_up(of.entry),
            outcome = guarded(adapter, message, attempt) => Some(outcome),
        }
    }

    /// The link for a mail's one recipient; none for what goes out in any case. Of an event only its topic is ended.
    fn way_out(&self, tenant: domain::TenantId, content: &Content, address: &str) -> Option<String> {
        let topic = match content.event.as_deref() {
            Some(event) if event.critical => return None,
            Some(event) => Some(event.about()),
            None => None,
        };
        self.unsubscribing.link(tenant, address, topic)
    }

    /// Whom this attempt is for, in place of whom the content names.
    async fn targets(
        &self,
        row: &mut Row,
        content: &mut Content,
        now: Timestamp,
        suppressed: &Suppressed,
    ) -> Result<Vec<String>, AttemptResult> {
        let (channel, target) = (content.channel(), std::mem::take(&mut content.target));
        if !channel.takes_recipients() {
            // Taken in when nobody served its type, or by an older version: it goes where the settings say, and is not
            // recorded as sent to anybody by name.
            return Ok(vec![]);
        }
        let named = match target {
            Target::Provider => return Ok(vec![]),
            Target::Recipients(to) if to.is_empty() => return Err(park("EMPTY_LIST", "nobody to send to")),
            Target::Recipients(to) => {
                if let ([only], Channel::Email) = (to.as_slice(), channel) {
                    row.unsubscribe = self.way_out(row.tenant, content, only);
                }
                to
            }
            Target::List(name) => match self.directory.list(row.tenant, &name).await {
                Err(error) => {
                    tracing::warn!(
                        notification.id = %row.id,
                        error = &error as &dyn std::error::Error,
                        "a list could not be read; the notification waits"
                    );
                    return Err(match error.may_pass() {
                        true => AttemptResult::Release,
                        false => unreadable(content, now, &format!("the list {name:?}")),
                    });
                }
                Ok(None) => return Err(park("NO_LIST", format!("there is no list named {name:?}"))),
                Ok(Some(list)) => {
                    let members = list.recipients.iter().filter(|r| r.takes(channel));
                    let members: Vec<_> = members.map(|r| r.address.clone()).collect();
                    if members.is_empty() {
                        let why = format!("list {name:?} has no recipient for {channel}");
                        return Err(park("EMPTY_LIST", why));
                    }
                    members
                }
            },
        };
        let mut open = vec![];
        for address in open_targets(named, &row.known, row.generation) {
            match suppressed.standing(row.tenant, channel, content, &address) {
                Standing::MayBeSentTo => open.push(address),
                Standing::Suppressed(why) => row.left_out.push(left_out(address, why)),
                Standing::NotAskedAbout => return Err(AttemptResult::Release),
                Standing::Unreadable => {
                    return Err(unreadable(content, now, "who must not be written to"));
                }
            }
        }
        if open.is_empty() {
            return Err(AttemptResult::Concluded(settle_without_targets(
                &row.known,
                row.generation,
                row.left_out.first(),
            )));
        }
        Ok(open)
    }
}

/// What follows from the lane having none that can be used.
fn without_adapter(entry: &LaneEntry) -> AttemptResult {
    match &entry.adapter {
        LaneAdapter::NoProvider(channel) => {
            park("NO_PROVIDER", format!("no provider for type {channel} is set up"))
        }
        LaneAdapter::NoAdapter(what) => park("NO_ADAPTER", format!("no delivery adapter for {what}")),
        LaneAdapter::BadSettings(problems) => {
            let words = in_words(problems);
            park(
                "BAD_SETTINGS",
                format!("the provider's settings are wrong: {words}"),
            )
        }
        LaneAdapter::Gone => park("NO_PROVIDER", "its provider was removed"),
        LaneAdapter::Sealed(_) | LaneAdapter::Ready(_) => AttemptResult::Release,
    }
}

/// As if nothing had happened, but for marks that the store may have kept although it did not say so.
fn nobody_asked(row: &Row, start: &Start) -> AttemptResult {
    if row.reopened.is_empty() {
        return AttemptResult::Release;
    }
    let words = "it could not be kept who is asked for; nobody was";
    AttemptResult::Postponed {
        until: start.now,
        cause: Cause::new(TIMEOUT, words),
    }
}

fn postponed(content: &Content, until: Timestamp, cause: Cause) -> AttemptResult {
    match content.expires_at {
        Some(at) if at <= until => park(EXPIRED, EXPIRED_IN_WORDS),
        _ => AttemptResult::Postponed { until, cause },
    }
}

fn of_template(outcome: &Outcome) -> bool {
    let of_template = |failure: &Failure| failure.scope == Scope::Template;
    match outcome {
        Outcome::Delivered(_) => false,
        Outcome::Failed(failure) => of_template(failure),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|report| report.result.as_ref().err())
            .any(of_template),
    }
}

/// The adapter's answer, or what can be said when it panics or outlives its deadline.
async fn guarded(adapter: &dyn Adapter, message: &Message, attempt: Attempt) -> Outcome {
    let deadline = attempt.deadline;
    let attempt = AssertUnwindSafe(adapter.deliver(message, attempt)).catch_unwind();
    // Adapters keep their deadline; this is for the one that does not.
    let slack = Duration::from_secs(1);
    match tokio::time::timeout_at(deadline.0 + slack, attempt).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => {
            tracing::error!(notification.id = %message.id, "an adapter panicked; the others go on");
            Failure::unknown(UNKNOWN, "the adapter failed on this message")
                .with_own_code("PANIC")
                .of_our_making()
                .into()
        }
        Err(_) => {
            let text = "the adapter did not answer in time";
            Failure::ambiguous(Scope::Lane, TIMEOUT, text).into()
        }
    }
}

/// The process is going away. Where a duplicate costs money it is not guessed whether it went out; elsewhere it goes back.
fn given_up(entry: &LaneEntry) -> Option<Outcome> {
    match entry.on_ambiguous {
        OnAmbiguous::Resend => None,
        OnAmbiguous::Park => {
            let text = "the process was stopped while this was being sent";
            let failure = Failure::ambiguous(Scope::Message, AMBIGUOUS, text);
            Some(failure.with_own_code("SHUTDOWN").of_our_making().into())
        }
    }
}
