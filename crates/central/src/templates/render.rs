//! Templates filled in: as a preview, as a test message, and in the style that a send uses.

use super::{TemplateService, odd};
use crate::ingest::Submitted;
use domain::{
    Actor, FieldError, NotificationId, Submission, TenantId,
    submission::Provenance,
    template::{
        DateStyle, Payload, PayloadError, RenderError, RenderStyle, Rendered, TemplateContent,
        TemplateIdentity, date,
    },
};
use store::templates::Template;

/// What a message would look like.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub rendered: Rendered,
    /// About the template and about the values.
    pub warnings: Vec<String>,
}

/// What came of a test message.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedTemplate {
    pub submitted: Submitted,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<PayloadError> for PreviewError {
    fn from(error: PayloadError) -> Self {
        Self::Fields(vec![FieldError::new("payload", error.to_string())])
    }
}

impl From<RenderError> for PreviewError {
    fn from(error: RenderError) -> Self {
        let RenderError::TooLong { field, .. } = &error;
        Self::Fields(vec![FieldError::new(*field, error.to_string())])
    }
}

impl TemplateService {
    /// How the tenant's templates are filled in.
    pub async fn style(&self, tenant: TenantId) -> store::Result<RenderStyle> {
        let settings = self.store.template_settings(tenant).await?;
        let plain = DateStyle::default();
        Ok(RenderStyle {
            missing: self.missing,
            date: DateStyle {
                format: settings.date_format.unwrap_or(plain.format),
                zone: settings
                    .zone
                    .as_deref()
                    .and_then(date::zone)
                    .unwrap_or(plain.zone),
                ..plain
            },
        })
    }

    /// What a message of this content would say, saved or not.
    pub async fn preview(
        &self,
        tenant: TenantId,
        identity: &TemplateIdentity,
        content: &TemplateContent,
        payload: &str,
    ) -> Result<Preview, PreviewError> {
        sound(identity, content)?;
        let values = Payload::read(payload)?;
        self.preview_with(tenant, identity, content, &values).await
    }

    /// The same with values that were read, like those of an event that came.
    pub async fn preview_with(
        &self,
        tenant: TenantId,
        identity: &TemplateIdentity,
        content: &TemplateContent,
        values: &Payload,
    ) -> Result<Preview, PreviewError> {
        sound(identity, content)?;
        let mut warnings = odd(identity, content);
        let rendered = content.render(values, &self.style(tenant).await?)?;
        warnings.extend(rendered.warnings.iter().cloned());
        Ok(Preview { rendered, warnings })
    }

    /// Sends one message of the template, filled with this payload, to an address of the tester's. It goes out like any
    /// other; who tested is on record as its sender.
    pub async fn test(
        &self,
        tenant: TenantId,
        template: &Template,
        payload: &str,
        to: Option<String>,
        actor: &Actor,
    ) -> Result<TestedTemplate, PreviewError> {
        let Template {
            identity, content, ..
        } = template;
        let Preview { rendered, warnings } = self.preview(tenant, identity, content, payload).await?;
        let submission = Submission {
            tenant,
            id: NotificationId::mint(),
            idempotency_key: None,
            content: rendered.into_content(identity, content, to.into_iter().collect()),
            provenance: Provenance::default(),
            submitted_by: actor.clone(),
            site_enqueued_at: None,
            resend_of: None,
            trace: None,
        };
        let submitted = self.ingest.submit(vec![submission]).await?.pop();
        let refused = || Submitted::Refused(vec![]);
        Ok(TestedTemplate {
            submitted: submitted.unwrap_or_else(refused),
            warnings,
        })
    }
}

/// What cannot be saved cannot be looked at either.
fn sound(identity: &TemplateIdentity, content: &TemplateContent) -> Result<(), PreviewError> {
    let problems = content.problems(identity.channel);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(PreviewError::Fields(problems)),
    }
}
