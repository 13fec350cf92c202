//! Trying a provider out: one real attempt that leaves no notification behind.

use super::ProviderService;
use crate::directory::owner;
use delivery::{Adapter, Attempt, Deadline, Message, Recorder, Transcript};
use domain::{Actor, Content, NotificationId, Outcome, ProviderId, TenantId, field_error::in_words};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use store::directory::ProviderTest;

/// The longest a provider's test may take.
const PROVIDER_TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The answer of a provider's test.
#[derive(Debug, Clone)]
pub struct TestReport {
    pub outcome: Outcome,
    /// What was sent and what came back, scrubbed and bounded.
    pub transcript: Transcript,
    pub duration: Duration,
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
    /// in the audit log, also when nobody waits for the answer any more.
    pub async fn test(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        to: Option<String>,
        actor: &Actor,
    ) -> Result<TestReport, TestError> {
        let (service, id, actor) = (self.clone(), id.clone(), actor.clone());
        let testing = tokio::spawn(async move { service.test_and_log(tenant, &id, to, &actor).await });
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
        to: Option<String>,
        actor: &Actor,
    ) -> Result<TestReport, TestError> {
        let (adapter, message) = self.test_message(tenant, id, to).await?;
        let start = Instant::now();
        let recorder = Recorder::on();
        let attempt = Attempt {
            recorder: recorder.clone(),
            ..Deadline::after(PROVIDER_TEST_TIMEOUT).into()
        };
        let outcome = adapter.deliver(&message, attempt).await;
        let report = TestReport {
            outcome,
            transcript: recorder.transcript().unwrap_or_default(),
            duration: start.elapsed(),
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
        Ok(report)
    }

    async fn test_message(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        to: Option<String>,
    ) -> Result<(Arc<dyn Adapter>, Message), TestError> {
        let provider = self
            .store
            .provider(tenant, id)
            .await?
            .ok_or(TestError::NotFound)?;
        let kind = self.directory.registry().get(&provider.provider.kind);
        let kind = kind
            .ok_or_else(|| TestError::NotUsable(format!("no adapter for kind {}", provider.provider.kind)))?;
        let settings = self
            .directory
            .open(&provider.provider)
            .map_err(TestError::NotUsable)?;
        let adapter = kind
            .build_for(&owner(&provider.provider), &settings)
            .map_err(|problems| TestError::NotUsable(in_words(&problems)))?;
        let message = Message {
            id: NotificationId::mint(),
            content: Content {
                channel: Some(provider.provider.channel),
                subject: "Waypost test".into(),
                body: format!("This is a test of the provider {}.", provider.provider.name),
                ..Content::default()
            },
            targets: to.into_iter().collect(),
            site: None,
            created_at: self.clock.now(),
            trace: None,
        };
        if message.targets.is_empty() && provider.provider.channel.needs_recipients() {
            return Err(TestError::NotUsable(
                "say whom to send the test to, in `to`".into(),
            ));
        }
        Ok((adapter, message))
    }
}
