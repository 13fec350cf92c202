//! Trying a provider out: one real attempt that leaves no notification behind.
//!
//! Always true: a test goes out as a message would, by the same adapter; it keeps to pauses, hours and the rate of its lane like
//! any of them, so many of a tenant and on a node go on at once, what it learns of a pause holds for them too (a reason to hold the lane is left to them), and every test is on
//! record. What its far end calls back about
//! a test is about no notification and changes nothing.

use super::{ProviderService, TESTS_OF_TENANT, TESTS_ON_NODE};
use crate::{
    directory::LaneAdapter,
    dispatcher::pauses::{self, LanePauses, lane_failure},
};
use delivery::{Adapter, Attempt, Deadline, Message, Recorder, Transcript};
use domain::{
    Actor, Content, Failure, HoldReason, NotificationId, Outcome, ProviderId, Scope, TenantId, Timestamp,
    code::{OUTSIDE_HOURS, RATE_LIMITED, TEMPLATE},
    field_error::in_words,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use store::{
    directory::{Provider, ProviderTest},
    outbox::Lane,
    signals::Signal,
};

/// The longest a provider's test may take.
const PROVIDER_TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest a test waits for its turn in a lane with a rate, or for a pause to end; then it says so instead.
const MAX_TURN_WAIT: Duration = Duration::from_secs(5);

/// What is to be tried.
#[derive(Debug, Clone, Default)]
pub struct TestDraft {
    /// Whom to send it to, for types that need somebody.
    pub to: Option<String>,
    /// Fields that only some types know, as JSON text; a template, where nothing else is sent.
    pub data: Option<String>,
}

/// The answer of a provider's test.
#[derive(Debug, Clone)]
pub struct TestReport {
    pub outcome: Outcome,
    /// What was sent and what came back, scrubbed and bounded.
    pub transcript: Transcript,
    pub duration: Duration,
    /// The hold that ended because the test succeeded.
    pub resumed: Option<HoldReason>,
}

impl TestReport {
    /// Whether it worked, and the code and the words if it did not for everybody.
    fn told(&self) -> (bool, Option<&str>, &str) {
        match &self.outcome {
            Outcome::Delivered(accepted) => (true, None, accepted.detail.as_deref().unwrap_or_default()),
            Outcome::Failed(failure) => (false, Some(failure.code.as_ref()), &failure.detail),
            Outcome::Mixed(reports) => match reports.iter().find_map(|report| report.result.as_ref().err()) {
                Some(failure) => (false, Some(failure.code.as_ref()), &failure.detail),
                None => (true, None, ""),
            },
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error("there is no such provider")]
    NotFound,
    #[error("{0}")]
    NotUsable(String),
    #[error(
        "{TESTS_OF_TENANT} tests of a tenant, and {TESTS_ON_NODE} on a node, go on at once; wait until one is over"
    )]
    TooMany,
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl ProviderService {
    /// Makes one real attempt through the provider and tells what came of it. Leaves no notification behind, but a line
    /// in the audit log, also when nobody waits for the answer any more. A success ends a hold that is probed, like a
    /// probe's would.
    pub async fn test(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        draft: TestDraft,
        actor: &Actor,
    ) -> Result<TestReport, TestError> {
        let place = self.tests.enter(tenant).ok_or(TestError::TooMany)?;
        let (service, id, actor) = (self.clone(), id.clone(), actor.clone());
        let testing = tokio::spawn(async move {
            let _until_it_is_over = place;
            service.test_and_log(tenant, &id, draft, &actor).await
        });
        match testing.await {
            Ok(report) => report,
            Err(broke) => match broke.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(TestError::NotUsable("the node is stopping".into())),
            },
        }
    }

    async fn test_and_log(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        draft: TestDraft,
        actor: &Actor,
    ) -> Result<TestReport, TestError> {
        let found = self.store.provider(tenant, id).await?;
        let provider = found.ok_or(TestError::NotFound)?;
        let (adapter, message) = self.test_message(&provider, draft)?;
        let refused = self.wait_for_turn(&provider, &*adapter, &message).await?;
        let went_out = refused.is_none();
        let mut report = match refused {
            Some(refused) => TestReport {
                outcome: refused.into(),
                transcript: Transcript::default(),
                duration: Duration::ZERO,
                resumed: None,
            },
            None => attempt(&*adapter, &message).await,
        };
        let (worked, code, said) = report.told();
        let to = message.targets.join(", ");
        let detail = [to.as_str(), said].into_iter().filter(|part| !part.is_empty());
        let logged = ProviderTest {
            tenant,
            provider: id.clone(),
            worked,
            duration_ms: u32::try_from(report.duration.as_millis()).unwrap_or(u32::MAX),
            code: code.map(str::to_owned),
            detail: detail.collect::<Vec<_>>().join(": "),
            actor: actor.clone(),
        };
        self.store.log_provider_test(logged).await?;
        if worked {
            report.resumed = self.end_probed_hold(&provider, actor).await?;
        }
        if went_out {
            self.pause_as_told(&provider, &message, &report.outcome).await?;
        }
        Ok(report)
    }

    /// What was said about the far end, a recipient or a template holds for messages as if one of them had been told.
    async fn pause_as_told(
        &self,
        provider: &Provider,
        message: &Message,
        outcome: &Outcome,
    ) -> store::Result<()> {
        let policy = provider.provider.retry.clamped();
        let template = message.template_name();
        let narrow = pauses::narrow(&policy, 0, outcome, &message.targets, template.as_deref());
        if !narrow.is_empty() {
            self.outbox.add_pauses(provider.lane, narrow).await?;
        }
        if let Some(wait) = lane_failure(outcome).and_then(|failure| policy.pause(failure, 0)) {
            self.outbox.pause_lane(provider.lane, wait).await?;
            // What waits for a place goes back, here too.
            self.wake.look();
            self.signals.announce(Signal::LookAgain);
        }
        Ok(())
    }

    /// Waits until a message may go out, and keeps the messages of the lane back for as long as this one takes the place of
    /// one. Answers why it may not, where that would take too long.
    async fn wait_for_turn(
        &self,
        provider: &Provider,
        adapter: &dyn Adapter,
        message: &Message,
    ) -> store::Result<Option<Failure>> {
        let gap = provider.provider.limits.clamped().per_second;
        let gap = gap.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(1.0 / rate.max(0.001))
        });
        let now = self.queries.now().await?;
        let later = self.not_before(provider, adapter, message, now).await?;
        let until = later.as_ref().map(|(until, _)| until.since(now));
        let wait = until.unwrap_or_default().max(gap);
        if wait > MAX_TURN_WAIT {
            let too_slow = || {
                let words = "nothing was sent: the provider's rate is lower than a test can wait for";
                Failure::transient(Scope::Lane, RATE_LIMITED, words)
            };
            return Ok(Some(later.map_or_else(too_slow, |(_, why)| why)));
        }
        if !gap.is_zero() {
            // Until the test has gone out, and one turn more, which is the test's.
            self.outbox.pause_lane(provider.lane, wait + gap).await?;
        }
        tokio::time::sleep(wait).await;
        Ok(None)
    }

    /// When it may go out at the earliest, and why not now: the same reasons that keep a message.
    async fn not_before(
        &self,
        provider: &Provider,
        adapter: &dyn Adapter,
        message: &Message,
        now: Timestamp,
    ) -> store::Result<Option<(Timestamp, Failure)>> {
        let not_sent = |scope, code, until: Timestamp, why: &str| {
            let words = format!("nothing was sent: {why} {until}");
            (until, Failure::transient(scope, code, words))
        };
        let lane = self.lane(provider).await?.and_then(|lane| lane.not_before);
        let pauses = LanePauses::from(self.outbox.pauses(provider.lane).await?);
        let template = message.template_name();
        let template = template.and_then(|name| pauses.until(Scope::Template, &name, now));
        let to = message.targets.iter();
        let to = to.filter_map(|to| pauses.until(Scope::Recipient, to, now)).max();
        let hours = adapter.not_before(message, now);
        let reasons = [
            lane.map(|until| {
                let why = "the far end asked for a pause until";
                not_sent(Scope::Lane, RATE_LIMITED, until, why)
            }),
            to.map(|until| {
                let why = "the service asked for less to this recipient until";
                not_sent(Scope::Recipient, RATE_LIMITED, until, why)
            }),
            template.map(|until| {
                let why = "the service does not take this template until";
                not_sent(Scope::Template, TEMPLATE, until, why)
            }),
            hours.map(|until| {
                let why = "such messages go out at certain hours only, the next from";
                not_sent(Scope::Message, OUTSIDE_HOURS, until, why)
            }),
        ];
        let later = reasons.into_iter().flatten().filter(|(until, _)| *until > now);
        Ok(later.max_by_key(|(until, _)| *until))
    }

    async fn lane(&self, provider: &Provider) -> store::Result<Option<Lane>> {
        let lanes = self.queries.lanes(provider.provider.tenant).await?;
        Ok(lanes.into_iter().find(|lane| lane.lane == provider.lane))
    }

    /// What these settings were held for is over. A hold of other settings, or one that only a person ends, stays.
    async fn end_probed_hold(&self, tested: &Provider, actor: &Actor) -> store::Result<Option<HoldReason>> {
        let now = self
            .lane(tested)
            .await?
            .filter(|lane| lane.config_version == tested.version);
        let hold = now
            .and_then(|lane| lane.hold)
            .filter(|hold| hold.next_probe.is_some());
        let Some(reason) = hold.map(|hold| hold.reason) else {
            return Ok(None);
        };
        let ended = self.outbox.resume_lane(tested.lane, Some(reason), actor).await?;
        self.wake.look();
        self.signals.announce(Signal::LookAgain);
        Ok(ended.then_some(reason))
    }

    fn test_message(
        &self,
        provider: &Provider,
        draft: TestDraft,
    ) -> Result<(Arc<dyn Adapter>, Message), TestError> {
        let adapter = match self.directory.adapter(provider) {
            LaneAdapter::Ready(adapter) => adapter,
            LaneAdapter::BadSettings(problems) => return Err(TestError::NotUsable(in_words(&problems))),
            LaneAdapter::Sealed(why) => return Err(TestError::NotUsable(why)),
            LaneAdapter::NoAdapter(what) => {
                return Err(TestError::NotUsable(format!("no adapter for {what}")));
            }
            LaneAdapter::NoProvider(_) | LaneAdapter::Gone => return Err(TestError::NotFound),
        };
        let provider = &provider.provider;
        let message = Message {
            id: NotificationId::mint(),
            content: Box::new(Content {
                channel: Some(provider.channel),
                subject: "Waypost test".into(),
                body: format!("This is a test of the provider {}.", provider.name),
                type_data: draft.data,
                ..Content::default()
            }),
            targets: draft.to.into_iter().collect(),
            site: None,
            created_at: self.clock.now(),
            trace: None,
            unsubscribe: None,
        };
        if message.targets.is_empty() && provider.channel.needs_recipients() {
            return Err(TestError::NotUsable(
                "say whom to send the test to, in `to`".into(),
            ));
        }
        Ok((adapter, message))
    }
}

async fn attempt(adapter: &dyn Adapter, message: &Message) -> TestReport {
    let start = Instant::now();
    let recorder = Recorder::on();
    let attempt = Attempt {
        recorder: recorder.clone(),
        ..Deadline::after(PROVIDER_TEST_TIMEOUT).into()
    };
    let outcome = adapter.deliver(message, attempt).await;
    TestReport {
        outcome,
        transcript: recorder.transcript().unwrap_or_default(),
        duration: start.elapsed(),
        resumed: None,
    }
}
