//! What somebody wants a provider to be, and whether it can be that.

use super::{ProviderService, secrets::Owner, texts::nul_problems};
use domain::{FieldError, Limits, OnAmbiguous, ProviderId, RetryPolicy, TenantId};
use serde_json::{Map, Value};
use store::directory::{NewProvider, Provider};

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

impl ProviderService {
    /// What somebody should know about a provider that was stored all the same, in words.
    pub fn warnings(&self, provider: &NewProvider) -> Vec<String> {
        let kind = self.directory.registry().get(&provider.kind);
        // What cannot be opened is told by whoever wants to send.
        match (kind, self.directory.open(provider)) {
            (Some(kind), Ok(settings)) => kind.warnings(&settings),
            _ => vec![],
        }
    }

    pub(super) fn check(
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
        problems.extend(nul_problems(&draft.settings));
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
