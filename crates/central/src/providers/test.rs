//! Trying a provider out: one real attempt that leaves no notification behind.
//!
//! Always true: a test goes out as a message would, by the same adapter; it keeps to the pause and the rate of its lane like
//! any of them, what it learns of a pause holds for them too, and every test is on record. What its far end calls back about
//! a test is about no notification and changes nothing.

use super::ProviderService;
use crate::directory::LaneAdapter;
use delivery::{Adapter, Attempt, Deadline, Message, Recorder, Transcript};
use domain::{
    Actor, Content, Failure, HoldReason, NotificationId, Outcome, ProviderId, Scope, TenantId,
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
        let (service, id, actor) = (self.clone(), id.clone(), actor.clone());
        let testing = tokio::spawn(async move { service.test_and_log(tenant, &id, draft, &actor).await });
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
        let mut report = match self.wait_for_turn(&provider).await? {
            Some(refused) => TestReport {
                outcome: refused.into(),
                transcript: Transcript::default(),
                duration: Duration::ZERO,
                resumed: None,
            },
            None => attempt(adapter.as_ref(), &message).await,
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
        if let Some(wait) = asked_to_wait(&report.outcome) {
            self.outbox.pause_lane(provider.lane, wait).await?;
        }
        Ok(report)
    }

    /// Waits until a message may go out, and keeps the messages of the lane back for as long as this one takes the place of
    /// one. Answers why it may not, where that would take too long.
    async fn wait_for_turn(&self, provider: &Provider) -> store::Result<Option<Failure>> {
        let gap = provider.provider.limits.clamped().per_second;
        let gap = gap.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(1.0 / rate.max(0.001))
        });
        let now = self.queries.now().await?;
        let lane = self.lane(provider).await?;
        let paused = lane.and_then(|lane| lane.not_before).filter(|until| *until > now);
        let wait = paused.map_or(Duration::ZERO, |until| until.since(now)).max(gap);
        if wait > MAX_TURN_WAIT {
            let words = match paused {
                Some(until) => format!("nothing was sent: the far end asked for a pause until {until}"),
                None => "nothing was sent: the provider's rate is lower than a test can wait for".to_owned(),
            };
            return Ok(Some(Failure::transient(Scope::Lane, "RATE_LIMITED", words)));
        }
        if !gap.is_zero() {
            // Until the test has gone out, and one turn more, which is the test's.
            self.outbox.pause_lane(provider.lane, wait + gap).await?;
        }
        tokio::time::sleep(wait).await;
        Ok(None)
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

/// How long the far end asked not to be sent anything.
fn asked_to_wait(outcome: &Outcome) -> Option<Duration> {
    match outcome {
        Outcome::Failed(failure) if failure.scope == Scope::Lane => failure.retry_after,
        _ => None,
    }
}
