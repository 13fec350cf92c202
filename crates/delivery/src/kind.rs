//! A kind of provider: what it is called, what it is configured with, and how an adapter is made of that.

pub use crate::setting::{Setting, SettingType, When};
use crate::{
    adapter::Adapter,
    capture::Capture,
    opt_out::OptOut,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptsBy},
};
use domain::{Channel, Content, FieldError, Limits, OnAmbiguous, ProviderId, RetryPolicy, TenantId};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Settings with their secrets filled in, as a kind reads them.
pub type Settings = Map<String, Value>;

/// One kind of provider.
pub trait Kind: std::fmt::Debug + Send + Sync {
    /// Made once: it is looked at for every message that is routed.
    fn info(&self) -> &KindInfo;

    /// Checks the settings; every bad one is named (`settings.port`). Does no IO.
    fn check(&self, settings: &Settings) -> Vec<FieldError>;

    /// What somebody should know about settings that are fine as far as anybody can tell, in words. Does no IO.
    fn warnings(&self, _settings: &Settings) -> Vec<String> {
        vec![]
    }

    /// Every field of a message that no provider of this kind could send (`typeData.priority`). Asked where a message comes
    /// in, while somebody is there to hear it; what comes in without anybody is asked by the attempt. Does no IO.
    fn problems(&self, _content: &Content) -> Vec<FieldError> {
        vec![]
    }

    /// An adapter for these settings. Does no IO: a far end that is down is found out by the first attempt.
    /// Errors are what [`Kind::check`] names, for settings that got past it.
    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>>;

    /// The same, for a kind that keeps something for each provider.
    fn build_for(&self, _owner: &Owner, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        self.build(settings)
    }

    /// The same, for a far end that is told with each message where to send receipts: to `callback_url`, which is secret.
    fn build_with_receipts(
        &self,
        owner: &Owner,
        settings: &Settings,
        _callback_url: &str,
    ) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        self.build_for(owner, settings)
    }

    /// Whether the far end tells anything later, and how it gets to know where.
    fn receipts_by(&self) -> ReceiptsBy {
        ReceiptsBy::Nothing
    }

    /// The far end's own codes that say that a recipient wants no more: such a recipient is put on the list of who must not be
    /// written to.
    fn opt_outs(&self) -> &'static [OptOut] {
        &[]
    }

    /// What the far end tells later about messages it took. Checks who says so; does no IO and stores nothing.
    fn read_callback(
        &self,
        _settings: &Settings,
        _callback: &Callback<'_>,
    ) -> Result<CallbackContent, CallbackRefused> {
        Err(CallbackRefused::NoReceipts)
    }

    /// The messages this process keeps for a provider, oldest first; none for kinds that send them away.
    fn captured(&self, _owner: &Owner) -> Option<Vec<Capture>> {
        None
    }
}

/// Whose adapter it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    pub tenant: TenantId,
    pub provider: ProviderId,
}

/// What forms, prompts and validation need to know about a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindInfo {
    /// `smtp`, `webhook`, `capture`.
    pub kind: &'static str,
    pub channel: Channel,
    /// For a menu: "E-mail by SMTP".
    pub title: &'static str,
    /// What has to be there on the other side before it can be set up.
    pub setup: &'static str,
    pub settings: Vec<Setting>,
    pub retry: RetryPolicy,
    pub limits: Limits,
    pub on_ambiguous: OnAmbiguous,
}

impl KindInfo {
    /// A secret as a kind reads it. Settings of names and values are sealed as one JSON text.
    pub fn unsealed(&self, name: &str, plain: String) -> Value {
        let is_map = self
            .settings
            .iter()
            .any(|s| s.name == name && s.kind == SettingType::Map);
        match is_map {
            true => serde_json::from_str(&plain).unwrap_or(Value::String(plain)),
            false => Value::String(plain),
        }
    }

    pub fn secrets(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|s| s.secret)
    }

    /// The value that a setting comes to, its default included; none where it is not given, or not fit to be used.
    pub fn value(&self, settings: &Settings, name: &str) -> Option<Value> {
        crate::settings::value(&self.settings, settings, name)
    }
}
