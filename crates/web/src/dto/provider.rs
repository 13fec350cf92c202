//! Providers and their kinds, in and out. Secrets go in as ordinary settings and come out masked.

use super::{
    names::{
        HoldReasonName, OnAmbiguousName, OutcomeName, ReceiptsByName, SettingDefault, SettingTypeName,
        ShapeName, Span, TypeName,
    },
    transcript::TranscriptPart,
    waiting::HoldView,
};
use central::providers::{ProviderService, TestReport};
use delivery::{Kind, Setting, SettingType, When, receipt::ReceiptsBy};
use domain::{Channel, Failure, FailureKind, HoldReason, Limits, OnAmbiguous, Outcome, RetryPolicy};
use serde::Serialize;
use serde_json::{Map, Value};
use store::directory::Provider;
use utoipa::ToSchema;

/// A provider as it is set up. Secrets read `•••`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderView {
    pub id: String,
    pub name: String,
    /// See `GET /api/provider-kinds`.
    pub kind: String,
    #[schema(value_type = TypeName)]
    pub r#type: Channel,
    pub enabled: bool,
    /// The enabled provider of a type with the lowest takes what names no provider.
    pub order: i32,
    #[schema(value_type = Object)]
    pub settings: Map<String, Value>,
    #[schema(value_type = RetryView)]
    pub retry: RetryPolicy,
    #[schema(value_type = LimitsView)]
    pub limits: Limits,
    #[schema(value_type = OnAmbiguousName)]
    pub on_ambiguous: OnAmbiguous,
    pub hold: Option<HoldView>,
    /// Whether its far end has an address for receipts (`POST …/callback` makes one).
    pub receipts: bool,
    /// What is worth knowing about its settings, which are in force all the same.
    pub warnings: Vec<String>,
    /// Goes up with every change. Send it back with a PUT to be told of a change in between.
    pub version: i64,
}

/// How often, how soon and how long to try. On the way in, what is left out is the kind's default; `maxAge` null is no limit.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct RetryView {
    pub shape: ShapeName,
    pub interval: Span,
    pub factor: f64,
    pub cap: Span,
    pub jitter: f64,
    pub max_attempts: u32,
    pub max_age: Option<Span>,
    pub unknown_retries: u32,
}

/// How hard the provider may be driven. On the way in, what is left out is the kind's default; `perSecond` null is no limit.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct LimitsView {
    pub concurrency: u32,
    pub per_second: Option<f64>,
}

/// A provider to be made or replaced. What is left out is the kind's default; on PUT a secret that is left out or as it
/// was shown stays as it is, one that is null is removed, one that would be sent elsewhere from now on has to be given
/// again; `type`, `hold`, `receipts` and `warnings` are ignored. `"oauth.tokenUrl"` and `"oauth": {"tokenUrl": …}` are the same.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ProviderRequest {
    /// Made of the name if left out.
    pub id: Option<String>,
    pub name: Option<String>,
    /// Needed on POST.
    pub kind: Option<String>,
    pub enabled: Option<bool>,
    pub order: Option<i32>,
    #[schema(value_type = Option<Object>)]
    pub settings: Option<Value>,
    pub retry: Option<RetryView>,
    pub limits: Option<LimitsView>,
    pub on_ambiguous: Option<OnAmbiguousName>,
    /// PUT only: refused with `conflict` unless this is still the version.
    pub version: Option<i64>,
}

impl ProviderView {
    pub fn new(stored: Provider, desk: &ProviderService) -> Self {
        let warnings = desk.warnings(&stored.provider);
        Self {
            warnings,
            ..stored.into()
        }
    }
}

/// Without warnings.
impl From<Provider> for ProviderView {
    fn from(stored: Provider) -> Self {
        let settings = ProviderService::masked_settings(&stored.provider);
        let provider = stored.provider;
        Self {
            id: provider.id.to_string(),
            name: provider.name,
            kind: provider.kind,
            r#type: provider.channel,
            enabled: provider.enabled,
            order: provider.order,
            settings,
            retry: provider.retry,
            limits: provider.limits,
            on_ambiguous: provider.on_ambiguous,
            hold: stored.hold.map(HoldView::from),
            receipts: stored.callback.is_some(),
            warnings: vec![],
            version: stored.version,
        }
    }
}

/// What a test sends to.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct TestRequest {
    /// An address; needed for types that have recipients.
    pub to: Option<String>,
    /// Fields that only some types know; a `template`, for kinds that send nothing else.
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
}

/// What trying a provider at once has come to.
#[derive(Debug, Serialize, ToSchema)]
pub struct TriedAnswer {
    /// Notifications that waited for another attempt and are due now.
    pub moved: u64,
}

/// Why an operator stops a provider.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct HoldRequest {
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// What came of a test.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAnswer {
    pub ok: bool,
    #[schema(value_type = OutcomeName)]
    pub outcome: &'static str,
    /// What a failure means, for people.
    #[serde(skip)]
    pub meaning: Option<&'static str>,
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    /// The far end's words.
    pub detail: Option<String>,
    /// What a real message would have held the provider for.
    #[schema(value_type = Option<HoldReasonName>)]
    pub hold: Option<HoldReason>,
    /// What held the provider before, and no longer does because the test succeeded.
    #[schema(value_type = Option<HoldReasonName>)]
    pub resumed: Option<HoldReason>,
    pub duration_ms: u64,
    pub provider_message_id: Option<String>,
    /// Where recipients fared differently.
    pub recipients: Vec<TestedRecipient>,
    /// What was sent and what came back, in order, without secrets.
    pub transcript: Vec<TranscriptPart>,
    /// There was more than the transcript holds.
    pub transcript_cut: bool,
}

/// One recipient's part of a test.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct TestedRecipient {
    pub address: String,
    pub ok: bool,
    pub code: Option<String>,
    pub detail: Option<String>,
}

impl From<TestReport> for TestAnswer {
    fn from(report: TestReport) -> Self {
        let mut answer = Self {
            ok: false,
            outcome: "Delivered",
            meaning: None,
            code: None,
            provider_code: None,
            detail: None,
            hold: None,
            resumed: report.resumed,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            provider_message_id: None,
            recipients: vec![],
            transcript: report.transcript.parts.into_iter().map(Into::into).collect(),
            transcript_cut: report.transcript.cut,
        };
        match report.outcome {
            Outcome::Delivered(accepted) => {
                answer.ok = true;
                answer.detail = accepted.detail;
                answer.provider_message_id = accepted.provider_message_id;
            }
            Outcome::Failed(failure) => {
                answer.outcome = kind_name(&failure);
                answer.meaning = Some(failure.kind.in_words());
                answer.hold = failure.hold;
                answer.code = Some(failure.code.into_owned());
                answer.provider_code = failure.provider_code.map(Into::into);
                answer.detail = Some(failure.detail);
            }
            Outcome::Mixed(reports) => {
                answer.outcome = "Mixed";
                answer.ok = reports.iter().all(|r| r.result.is_ok());
                answer.recipients = reports
                    .into_iter()
                    .map(|r| match r.result {
                        Ok(accepted) => TestedRecipient {
                            address: r.address,
                            ok: true,
                            code: None,
                            detail: accepted.detail,
                        },
                        Err(failure) => TestedRecipient {
                            address: r.address,
                            ok: false,
                            code: Some(failure.code.into_owned()),
                            detail: Some(failure.detail),
                        },
                    })
                    .collect();
            }
        }
        answer
    }
}

fn kind_name(failure: &Failure) -> &'static str {
    match failure.kind {
        FailureKind::Transient => "Transient",
        FailureKind::Permanent => "Permanent",
        FailureKind::Unknown => "Unknown",
        FailureKind::Ambiguous => "Ambiguous",
    }
}

/// A kind of provider, for forms and prompts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindView {
    pub kind: &'static str,
    #[schema(value_type = TypeName)]
    pub r#type: Channel,
    pub title: &'static str,
    /// What has to be there on the other side before it can be set up.
    pub setup: &'static str,
    pub settings: Vec<SettingView>,
    #[schema(value_type = RetryView)]
    pub retry: RetryPolicy,
    #[schema(value_type = LimitsView)]
    pub limits: Limits,
    #[schema(value_type = OnAmbiguousName)]
    pub on_ambiguous: OnAmbiguous,
    /// Whether its services tell later what became of a message, and how they get to know where: `none`; `itsSettings`, a person
    /// enters the address over there; `eachMessage`, each message carries it.
    #[schema(value_type = ReceiptsByName)]
    pub receipts: &'static str,
}

/// One setting of a kind. `oauth.tokenUrl` is `tokenUrl` inside the object `oauth`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingView {
    pub name: &'static str,
    /// What people call it.
    pub label: String,
    #[schema(value_type = SettingTypeName)]
    pub r#type: &'static str,
    /// The words a `choice` takes.
    pub choices: Option<Vec<&'static str>>,
    pub required: bool,
    /// Write-only. Of a `url` the scheme, host and port are shown.
    pub secret: bool,
    /// Of a secret: the settings that decide who gets to see it. When one of them changes it has to be given again.
    pub sent_to: Vec<&'static str>,
    /// Of use only when another setting is one of these.
    pub when: Option<WhenView>,
    #[schema(value_type = Option<SettingDefault>)]
    pub default: Option<Value>,
    pub help: &'static str,
    /// How a value looks.
    pub example: Option<&'static str>,
}

/// A choice that another setting depends on.
#[derive(Debug, Serialize, ToSchema)]
pub struct WhenView {
    pub setting: &'static str,
    pub is: Vec<&'static str>,
}

impl From<&dyn Kind> for KindView {
    fn from(kind: &dyn Kind) -> Self {
        let info = kind.info();
        Self {
            kind: info.kind,
            r#type: info.channel,
            title: info.title,
            setup: info.setup,
            settings: info.settings.iter().cloned().map(SettingView::from).collect(),
            retry: info.retry.clone(),
            limits: info.limits.clone(),
            on_ambiguous: info.on_ambiguous,
            receipts: match kind.receipts_by() {
                ReceiptsBy::Nothing => "none",
                ReceiptsBy::ItsSettings => "itsSettings",
                ReceiptsBy::EachMessage => "eachMessage",
            },
        }
    }
}

impl From<Setting> for SettingView {
    fn from(setting: Setting) -> Self {
        let (r#type, choices) = match setting.kind {
            SettingType::Text => ("text", None),
            SettingType::Url => ("url", None),
            SettingType::Number => ("number", None),
            SettingType::Boolean => ("boolean", None),
            SettingType::Duration => ("duration", None),
            SettingType::Choice(words) => ("choice", Some(words.to_vec())),
            SettingType::Map => ("map", None),
        };
        Self {
            name: setting.name,
            label: setting.label().into_owned(),
            r#type,
            choices,
            required: setting.required,
            secret: setting.secret,
            sent_to: setting.sent_to.to_vec(),
            when: setting.when.map(|When { setting, is }| WhenView {
                setting,
                is: is.to_vec(),
            }),
            default: setting.default,
            help: setting.help,
            example: setting.example,
        }
    }
}
