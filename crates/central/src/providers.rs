//! Setting providers up: checking, sealing, masking, trying out, holding and resuming.
//!
//! Always true: a secret goes in and never comes out again; settings that fail their kind's checks are not stored.

use crate::{
    directory::{Directory, owner},
    provider_secrets::{self, Owner},
    secrets::Place,
    wake::Wake,
};
use delivery::{Adapter, Attempt, Capture, Deadline, Message, Recorder, Transcript};
use domain::{
    Actor, Content, FieldError, HoldReason, Limits, NotificationId, OnAmbiguous, Outcome, ProviderId,
    RetryPolicy, TenantId, field_error::in_words,
};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use store::{
    Store,
    directory::{NewProvider, Provider, ProviderTest},
    outbox::{HoldLane, Signal},
};

/// What a secret looks like on the way out, and what "leave it as it is" looks like on the way in.
pub use delivery::redact::MASK;

/// A provider as somebody wants it. What is left out is the kind's default.
#[derive(Debug, Clone, Default)]
pub struct ProviderDraft {
    pub id: Option<String>,
    pub name: Option<String>,
    pub kind: String,
    pub enabled: Option<bool>,
    pub order: Option<i32>,
    pub settings: Map<String, Value>,
    pub retry: Option<RetryPolicy>,
    pub limits: Option<Limits>,
    pub on_ambiguous: Option<OnAmbiguous>,
}

#[derive(Debug, thiserror::Error)]
pub enum PutError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

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

#[derive(Clone)]
pub struct ProviderDesk {
    store: Arc<dyn Store>,
    directory: Arc<Directory>,
    clock: Arc<dyn domain::Clock>,
    wake: Arc<Wake>,
}

impl std::fmt::Debug for ProviderDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProviderDesk")
    }
}

impl ProviderDesk {
    pub fn new(
        store: Arc<dyn Store>,
        directory: Arc<Directory>,
        clock: Arc<dyn domain::Clock>,
        wake: Arc<Wake>,
    ) -> Self {
        Self {
            store,
            directory,
            clock,
            wake,
        }
    }

    /// Creates a provider; its id is taken from its name when none is given.
    pub async fn create(
        &self,
        tenant: TenantId,
        draft: ProviderDraft,
        actor: &Actor,
    ) -> Result<Provider, PutError> {
        self.put(tenant, draft, None, actor).await
    }

    /// Replaces a provider. A secret that is left out or masked stays as it is, unless it would be sent elsewhere; one
    /// that is null is removed.
    pub async fn replace(
        &self,
        current: &Provider,
        draft: ProviderDraft,
        actor: &Actor,
    ) -> Result<Provider, PutError> {
        self.put(current.provider.tenant, draft, Some(current), actor)
            .await
    }

    async fn put(
        &self,
        tenant: TenantId,
        draft: ProviderDraft,
        current: Option<&Provider>,
        actor: &Actor,
    ) -> Result<Provider, PutError> {
        let provider = self.check(tenant, draft, current).map_err(PutError::Fields)?;
        let stored = self
            .store
            .put_provider(&provider, current.map(|c| c.version), actor)
            .await?;
        self.changed().await?;
        self.wake.lanes([stored.lane]);
        Ok(stored)
    }

    fn check(
        &self,
        tenant: TenantId,
        draft: ProviderDraft,
        current: Option<&Provider>,
    ) -> Result<NewProvider, Vec<FieldError>> {
        let Some(kind) = self.directory.registry().get(&draft.kind) else {
            let known: Vec<_> = self.directory.registry().iter().map(|k| k.info().kind).collect();
            return Err(vec![FieldError::new(
                "kind",
                format!("must be one of {}", known.join(", ")),
            )]);
        };
        let info = kind.info();
        let id = match current {
            Some(current) => current.provider.id.clone(),
            None => ProviderId::new(
                draft
                    .id
                    .clone()
                    .unwrap_or_else(|| slug(draft.name.as_deref(), &draft.kind)),
            ),
        };
        let mut problems = id_problems(&id);
        if let Some(current) = current
            && current.provider.kind != draft.kind
        {
            problems.push(FieldError::new(
                "kind",
                "cannot change; make another provider instead",
            ));
        }
        let owner = Owner {
            sealer: self.directory.sealer(),
            info,
            tenant,
            provider: &id,
        };
        let sealed = owner.seal(draft.settings, current.map(|c| &c.provider));
        problems.extend(sealed.problems);
        problems.extend(kind.check(&sealed.opened));
        let retry = draft.retry.unwrap_or_else(|| info.retry.clone());
        let limits = draft.limits.unwrap_or_else(|| info.limits.clone());
        let named = retry.problems(false).into_iter().chain(limits.problems());
        problems.extend(named.map(|(key, what)| FieldError::new(key, what)));
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(NewProvider {
            tenant,
            name: draft.name.unwrap_or_else(|| id.to_string()),
            id,
            kind: draft.kind,
            channel: info.channel,
            enabled: draft.enabled.unwrap_or(true),
            order: draft.order.unwrap_or(0),
            settings: sealed.settings,
            secrets: sealed.secrets,
            retry,
            limits,
            on_ambiguous: draft.on_ambiguous.unwrap_or(info.on_ambiguous),
        })
    }

    /// The settings as they may be shown: secrets masked.
    pub fn masked_settings(provider: &NewProvider) -> Map<String, Value> {
        provider_secrets::masked(provider)
    }

    /// Makes one real attempt through the provider and tells what came of it. Leaves no notification behind, but a line
    /// in the audit log, also when nobody waits for the answer any more.
    pub async fn test(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        to: Option<String>,
        actor: &Actor,
    ) -> Result<TestReport, TestError> {
        let (desk, id, actor) = (self.clone(), id.clone(), actor.clone());
        let testing = tokio::spawn(async move { desk.test_and_log(tenant, &id, to, &actor).await });
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

    /// The messages that this node keeps for the provider, oldest first; none for kinds that send them away.
    pub fn captured(&self, provider: &NewProvider) -> Option<Vec<Capture>> {
        let kind = self.directory.registry().get(&provider.kind)?;
        kind.captured(&owner(provider))
    }

    /// Stops a provider by hand. Answers whether there is one.
    pub async fn hold(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        why: Option<String>,
        actor: &Actor,
    ) -> store::Result<bool> {
        let Some(provider) = self.store.provider(tenant, id).await? else {
            return Ok(false);
        };
        let hold = HoldLane {
            lane: provider.lane,
            config_version: None,
            reason: HoldReason::Operator,
            detail: why,
            probe_after: None,
            actor: actor.clone(),
        };
        self.store.hold_lane(hold).await?;
        self.wake.look();
        Ok(true)
    }

    /// Lets a held provider go on, whatever held it. Answers whether there is one.
    pub async fn resume(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> store::Result<bool> {
        let Some(provider) = self.store.provider(tenant, id).await? else {
            return Ok(false);
        };
        self.store.resume_lane(provider.lane, None, actor).await?;
        self.wake.look();
        self.store.announce(Signal::LookAgain);
        Ok(true)
    }

    pub async fn delete(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> store::Result<bool> {
        let deleted = self.store.delete_provider(tenant, id, actor).await?;
        self.changed().await?;
        Ok(deleted)
    }

    /// Seals the secrets that an earlier version stored in clear. Answers the providers that had some.
    pub async fn seal_stored(&self) -> store::Result<Vec<ProviderId>> {
        let mut found = vec![];
        for stored in self.store.all_providers().await? {
            let provider = &stored.provider;
            let Some(kind) = self.directory.registry().get(&provider.kind) else {
                continue;
            };
            let owner = Owner {
                sealer: self.directory.sealer(),
                info: kind.info(),
                tenant: provider.tenant,
                provider: &provider.id,
            };
            let Some(sealed) = owner.seal_stored(provider) else {
                continue;
            };
            let (settings, secrets) = (&sealed.settings, &sealed.secrets);
            let (tenant, id) = (provider.tenant, &provider.id);
            // A provider that is changed meanwhile is stored sealed by whoever changes it.
            if self
                .store
                .reseal_provider(tenant, id, stored.version, settings, secrets)
                .await?
            {
                found.push(id.clone());
            }
        }
        Ok(found)
    }

    /// Seals every secret with the current key again. Answers (resealed, could not be opened).
    pub async fn reseal(&self) -> store::Result<(u64, Vec<String>)> {
        self.seal_stored().await?;
        let (mut resealed, mut closed) = (0, vec![]);
        for stored in self.store.all_providers().await? {
            let NewProvider {
                tenant,
                id,
                settings,
                secrets,
                ..
            } = &stored.provider;
            let sealer = self.directory.sealer();
            if !secrets.values().any(|sealed| sealer.is_outdated(sealed)) {
                continue;
            }
            let mut fresh = BTreeMap::new();
            for (setting, sealed) in secrets {
                let place = Place {
                    tenant: *tenant,
                    provider: id,
                    setting,
                };
                match sealer.open(place, sealed) {
                    Ok(plain) => {
                        fresh.insert(setting.clone(), sealer.seal(place, &plain));
                    }
                    Err(why) => closed.push(format!("{id}: {setting}: {why}")),
                }
            }
            if fresh.len() == secrets.len()
                && self
                    .store
                    .reseal_provider(*tenant, id, stored.version, settings, &fresh)
                    .await?
            {
                resealed += 1;
            }
        }
        Ok((resealed, closed))
    }

    async fn changed(&self) -> store::Result<()> {
        self.directory.refresh().await?;
        self.wake.look();
        self.store.announce(Signal::Directory);
        Ok(())
    }
}

fn slug(name: Option<&str>, kind: &str) -> String {
    let mut slug = String::new();
    for c in name.unwrap_or(kind).to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        kind.to_owned()
    } else {
        slug.to_owned()
    }
}

fn id_problems(id: &ProviderId) -> Vec<FieldError> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let text = id.as_str();
    if text.is_empty() || text.len() > 64 || !text.chars().all(fine) {
        return vec![FieldError::new(
            "id",
            "must be 1 to 64 of letters, digits, '-', '_' and '.'",
        )];
    }
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_of_the_name() {
        assert_eq!(slug(Some("Mail (main)"), "smtp"), "mail-main");
        assert_eq!(slug(Some("***"), "smtp"), "smtp");
        assert_eq!(slug(None, "webhook"), "webhook");
    }
}
