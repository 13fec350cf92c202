//! Providers: setting up, trying out, holding. Secrets go in and come back as `•••`.

use crate::{Client, Page, Result, http::NONE};
use domain::{Channel, HoldReason, NotificationId, Timestamp};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;

pub use domain::Hold;

/// A provider as central shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    pub id: String,
    pub name: String,
    pub kind: String,
    #[serde(rename = "type")]
    pub channel: Channel,
    pub enabled: bool,
    pub order: i32,
    pub settings: Map<String, Value>,
    pub retry: Value,
    pub limits: Value,
    pub on_ambiguous: String,
    pub hold: Option<Hold>,
    /// Whether its far end has an address for receipts.
    #[serde(default)]
    pub receipts: bool,
    /// What is worth knowing about its settings, which are in force all the same.
    #[serde(default)]
    pub warnings: Vec<String>,
    pub version: i64,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Where a provider's far end sends receipts. Shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderCallback {
    pub url: String,
    /// `itsSettings`: a person enters it at the provider. `eachMessage`: each message carries it.
    pub told_by: String,
}

/// A provider as somebody wants it. What is left out is the kind's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderDraft {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<i32>,
    pub settings: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_ambiguous: Option<String>,
    /// When replacing: `Conflict` unless this is still the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// A kind of provider and what it is set up with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderKind {
    pub kind: String,
    #[serde(rename = "type")]
    pub channel: Channel,
    pub title: String,
    /// What has to be there on the other side before it can be set up.
    #[serde(default)]
    pub setup: Option<String>,
    pub settings: Vec<Setting>,
    /// `itsSettings` or `eachMessage` where its services tell later what became of a message; otherwise `none`.
    #[serde(default)]
    pub receipts: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Nested ones with a dot: `oauth.tokenUrl`.
    pub name: String,
    /// What people call it.
    #[serde(default)]
    pub label: String,
    /// `text`, `url`, `number`, `boolean`, `duration`, `choice` or `map`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub choices: Option<Vec<String>>,
    pub required: bool,
    pub secret: bool,
    /// Of a secret: when one of these changes, it has to be given again.
    #[serde(default)]
    pub sent_to: Vec<String>,
    /// Of use only when another setting is one of these.
    #[serde(default)]
    pub when: Option<When>,
    #[serde(default)]
    pub default: Option<Value>,
    pub help: String,
    #[serde(default)]
    pub example: Option<String>,
}

/// A choice that another setting depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct When {
    pub setting: String,
    pub is: Vec<String>,
}

/// What came of a provider's test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    pub ok: bool,
    pub outcome: String,
    pub code: Option<String>,
    /// The far end's own code.
    #[serde(default)]
    pub provider_code: Option<String>,
    pub detail: Option<String>,
    /// What held the provider before, and no longer does because the test succeeded.
    #[serde(default)]
    pub resumed: Option<HoldReason>,
    pub duration_ms: u64,
    pub provider_message_id: Option<String>,
    #[serde(default)]
    pub recipients: Vec<TestedRecipient>,
    /// What was sent and what came back, in order.
    #[serde(default)]
    pub transcript: Vec<TranscriptPart>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One thing that was said in a test or an attempt: `sent` or `received`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptPart {
    pub side: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestedRecipient {
    pub address: String,
    pub ok: bool,
    pub code: Option<String>,
    pub detail: Option<String>,
}

/// A message that a `capture` provider kept instead of sending it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapturedMessage {
    pub number: u64,
    pub notification_id: NotificationId,
    pub to: Vec<String>,
    pub subject: String,
    pub body: String,
    pub body_html: Option<String>,
    pub type_data: Option<Value>,
    pub site: Option<String>,
    pub created_at: Timestamp,
}

/// What waits for one provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lane {
    pub provider: String,
    pub waiting: u64,
    pub hold: Option<Hold>,
    pub not_before: Option<Timestamp>,
    /// Why the node that answered cannot open the provider's secrets, if it cannot.
    #[serde(default)]
    pub sealed: Option<String>,
    /// What it is doing: `idle`, `sending`, `failing`, `throttled`, `sealed`, `held`, `disabled`.
    #[serde(default)]
    pub state: String,
    /// Why it is so, for people.
    #[serde(default)]
    pub words: String,
    /// The far end's words, the operator's or the node's.
    #[serde(default)]
    pub detail: Option<String>,
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// When it goes on, or is tried; none when that is up to a person.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// Somebody has to look.
    #[serde(default)]
    pub wrong: bool,
    /// What helps.
    #[serde(default)]
    pub advice: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A far end may take its time to answer a test.
const TEST_TIMEOUT: Duration = Duration::from_secs(90);
/// Captured messages asked for at once: they come with their bodies.
const CAPTURED_PAGE: u32 = 100;

impl Client {
    pub async fn providers(&self) -> Result<Vec<Provider>> {
        self.all(&["api", "providers"]).await
    }

    pub async fn provider(&self, id: &str) -> Result<Provider> {
        self.get(&["api", "providers", id], NONE).await
    }

    pub async fn create_provider(&self, draft: &ProviderDraft) -> Result<Provider> {
        self.post(&["api", "providers"], draft).await
    }

    /// Replaces a provider. A secret that is left out or `•••` stays as it is.
    pub async fn replace_provider(&self, id: &str, draft: &ProviderDraft) -> Result<Provider> {
        self.put(&["api", "providers", id], draft).await
    }

    pub async fn delete_provider(&self, id: &str) -> Result<()> {
        self.delete(&["api", "providers", id], NONE).await
    }

    /// Makes one real attempt and tells what came of it.
    pub async fn test_provider(&self, id: &str, to: Option<&str>) -> Result<TestReport> {
        self.test_provider_with(id, to, None).await
    }

    /// The same with fields that only some types know: a template, for kinds that send nothing else.
    pub async fn test_provider_with(
        &self,
        id: &str,
        to: Option<&str>,
        data: Option<&Value>,
    ) -> Result<TestReport> {
        let request = self.request(Method::POST, &["api", "providers", id, "test"], NONE);
        let asked = json!({ "to": to, "data": data });
        self.answer(request.timeout(TEST_TIMEOUT).json(&asked)).await
    }

    /// The newest messages that the node asked keeps for a `capture` provider, at most so many.
    pub async fn captured(&self, id: &str, n: usize) -> Result<Vec<CapturedMessage>> {
        let (mut all, mut cursor) = (vec![], None::<String>);
        while all.len() < n {
            let limit = u32::try_from(n - all.len())
                .unwrap_or(u32::MAX)
                .min(CAPTURED_PAGE);
            let path = ["api", "providers", id, "captured"];
            let page: Page<_> = self.page(&path, vec![], limit, cursor.as_deref()).await?;
            all.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(all)
    }

    /// Stops a provider; what is sent to it waits.
    pub async fn hold_provider(&self, id: &str, reason: Option<&str>) -> Result<Provider> {
        self.post(&["api", "providers", id, "hold"], &json!({ "reason": reason }))
            .await
    }

    /// Lets a held provider go on, whatever held it.
    pub async fn resume_provider(&self, id: &str) -> Result<Provider> {
        self.answer(self.request(Method::POST, &["api", "providers", id, "resume"], NONE))
            .await
    }

    /// Makes a new secret address for receipts; the one before stops working. It is not shown again.
    pub async fn new_callback(&self, id: &str) -> Result<ProviderCallback> {
        self.answer(self.request(Method::POST, &["api", "providers", id, "callback"], NONE))
            .await
    }

    /// Has a provider tried now: a pause ends, a held one is probed, and what waits for another attempt is due. Answers how
    /// many notifications were moved.
    pub async fn try_provider(&self, id: &str) -> Result<u64> {
        #[derive(serde::Deserialize)]
        struct Tried {
            moved: u64,
        }
        let path = ["api", "providers", id, "try"];
        let tried: Tried = self
            .answer(self.request(reqwest::Method::POST, &path, NONE))
            .await?;
        Ok(tried.moved)
    }

    pub async fn provider_kinds(&self) -> Result<Vec<ProviderKind>> {
        let page: Page<_> = self.get(&["api", "provider-kinds"], NONE).await?;
        Ok(page.items)
    }

    pub async fn lanes(&self) -> Result<Vec<Lane>> {
        let page: Page<_> = self.get(&["api", "lanes"], NONE).await?;
        Ok(page.items)
    }
}
