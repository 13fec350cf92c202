//! What each service's answers mean, as the files in `tests/answers` have it. Adapters and the simulator are both held
//! against them: the files are written from the services' documentation, not from either.

use crate::world::{adapter_in, failure, long_attempt, message, mixed, outside};
use delivery::{Attempt, KindInfo, Message, Outside, Recorder, Registry, transcript::Side};
use domain::{
    Failure, ManualClock, OnAmbiguous, Outcome, RetryPolicy,
    retry::{AttemptFacts, Jitter, Verdict},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// One service: how it is set up, and what it may answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Service {
    pub kind: String,
    /// `{url}` stands for where the simulator plays it.
    pub settings: Value,
    /// Settings that the simulated service refuses.
    revoked: Value,
    /// A recipient, where there are any.
    pub to: Option<String>,
    /// A recipient that the simulated service refuses.
    unknown_to: Option<String>,
    /// Type data that a message needs.
    data: Option<Value>,
    /// What the service is to be sent for the test message.
    pub request: Value,
    /// Where the rows come from.
    sources: String,
    answers: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    name: String,
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
    /// A body that is no JSON.
    text: Option<String>,
    /// Delivered under this id; `null` for services that give none.
    #[serde(default, deserialize_with = "present")]
    id: Option<Option<String>>,
    #[serde(flatten)]
    means: Means,
    /// What differs where the settings alone say where it goes.
    settings_only: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Means {
    class: Option<String>,
    scope: Option<String>,
    code: Option<String>,
    provider_code: Option<String>,
    hold: Option<String>,
    wait: Option<u64>,
    /// How many tries it is worth in all.
    tries: Option<u32>,
    /// The age in seconds from which on the message is not worth another.
    at_most: Option<u64>,
    /// What becomes of a message after its first attempt: `retry 60s`, `postpone 60s` (uncounted), `hold auth`, `park RECIPIENT`.
    then: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(from).map(Some)
}

impl Means {
    fn of(failure: &Failure, policy: &RetryPolicy) -> Self {
        let word = |value: Value| value.as_str().map(str::to_owned);
        Self {
            class: word(json!(failure.kind)),
            scope: word(json!(failure.scope)),
            code: Some(failure.code.to_string()),
            provider_code: failure.provider_code.as_ref().map(ToString::to_string),
            hold: failure.hold.map(|hold| hold.as_str().to_owned()),
            wait: failure.retry_after.map(|wait| wait.as_secs()),
            tries: failure.tries(),
            at_most: failure.at_most().map(|age| age.as_secs()),
            then: Some(comes_to(failure, policy, first_attempt())),
        }
    }
}

fn first_attempt() -> AttemptFacts {
    AttemptFacts {
        number: 1,
        unknowns: 0,
        age: Duration::ZERO,
        on_ambiguous: OnAmbiguous::Park,
        throttles: 0,
    }
}

/// What becomes of a message, and what it is parked as.
fn comes_to(failure: &Failure, policy: &RetryPolicy, facts: AttemptFacts) -> String {
    let seconds = |after: Duration| format!("{}s", after.as_secs());
    match policy.decide(facts, failure, Jitter::NONE) {
        Verdict::Retry { after } => format!("retry {}", seconds(after)),
        Verdict::Postpone { after } => format!("postpone {}", seconds(after)),
        Verdict::Wait { reason } => format!("hold {reason}"),
        Verdict::Park(_) => format!("park {}", failure.code),
    }
}

impl Row {
    fn written(&self) -> String {
        match (&self.body, &self.text) {
            (Some(body), _) => body.to_string(),
            (None, Some(text)) => text.clone(),
            (None, None) => String::new(),
        }
    }

    fn rule(&self) -> HttpRule {
        let rule = HttpRule::status(self.status).body(&self.written());
        let with = |rule: HttpRule, (name, value): (&String, &String)| rule.header(name, value);
        self.headers.iter().fold(rule, with)
    }

    #[track_caller]
    fn assert(&self, (kind, policy): (&str, &RetryPolicy), outcome: &Outcome, settings_only: bool) {
        let at = format!("{kind}, {:?}: {outcome:?}", self.name);
        if let Some(id) = &self.id {
            let Outcome::Delivered(accepted) = outcome else {
                panic!("{at}")
            };
            assert_eq!(&accepted.provider_message_id, id, "{at}");
            return;
        }
        let mut means = self.means.clone();
        if let Some(changes) = self.settings_only.clone().filter(|_| settings_only) {
            let changes: Means = serde_json::from_value(changes).unwrap();
            means.class = changes.class.or(means.class);
            means.scope = changes.scope.or(means.scope);
            means.code = changes.code.or(means.code);
            means.hold = changes.hold.or(means.hold);
            means.then = changes.then.or(means.then);
        }
        let failure = failure(outcome.clone());
        assert_eq!(Means::of(&failure, policy), means, "{at}");
        // Whatever is tried again is parked under its code in the end, and what waits for its lane never is.
        let last = AttemptFacts {
            number: policy.max_attempts,
            unknowns: policy.max_attempts,
            ..first_attempt()
        };
        let used_up = means.tries.map(|number| AttemptFacts {
            number,
            ..first_attempt()
        });
        let too_old = means.at_most.map(|age| AttemptFacts {
            age: Duration::from_secs(age),
            ..first_attempt()
        });
        for facts in used_up.into_iter().chain(too_old) {
            let parked = format!("park {}", failure.code);
            assert_eq!(comes_to(&failure, policy, facts), parked, "{at}");
        }
        let then = means.then.unwrap_or_default();
        match then.starts_with("retry") {
            true => assert_eq!(
                comes_to(&failure, policy, last),
                format!("park {}", failure.code),
                "{at}"
            ),
            false => assert_eq!(comes_to(&failure, policy, last), then, "{at}"),
        }
    }

    /// The names of a JSON answer's fields, or the text itself.
    fn shape(&self) -> Value {
        shape(&self.written())
    }
}

fn shape(body: &str) -> Value {
    match serde_json::from_str(body) {
        Ok(Value::Object(fields)) => {
            Value::Object(fields.into_iter().map(|(name, _)| (name, Value::Null)).collect())
        }
        Ok(Value::Array(_)) => json!([]),
        _ => json!(body),
    }
}

pub fn services() -> Vec<Service> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/answers");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    };
    files.iter().map(read).collect()
}

impl Service {
    /// The settings, with the simulator in place of the service.
    pub fn settings_at(&self, receiver: &HttpReceiver) -> Value {
        let url = receiver.url(&format!("/{}", self.kind));
        serde_json::from_str(&self.settings.to_string().replace("{url}", &url)).unwrap()
    }

    pub fn info(&self) -> KindInfo {
        let registry = Registry::standard(Arc::new(outside()), delivery::Captured::default());
        registry.get(&self.kind).unwrap().info().clone()
    }

    pub fn message(&self, to: &[&str]) -> Message {
        let mut message = message(self.info().channel, to);
        if let Some(data) = &self.data {
            message.content.type_data = Some(data.to_string());
        }
        message
    }

    pub fn to(&self) -> Vec<&str> {
        self.to.as_deref().into_iter().collect()
    }

    fn row(&self, name: &str) -> &Row {
        let found = self.answers.iter().find(|row| row.name == name);
        found.unwrap_or_else(|| panic!("{} has no row {name:?}", self.kind))
    }
}

/// An adapter to whom it is always the first of January 2026, because answers name moments.
pub fn fixed_adapter(kind: &str, settings: Value) -> Arc<dyn delivery::Adapter> {
    let outside = Outside::new(Arc::new(ManualClock::default()));
    adapter_in(
        outside.allowing(vec!["127.0.0.0/8".parse().unwrap()]),
        kind,
        settings,
    )
}

async fn receiver() -> HttpReceiver {
    HttpReceiver::start(HttpOptions::default()).await.unwrap()
}

#[tokio::test]
async fn every_answer_of_every_service_means_what_its_file_says() {
    let receiver = receiver().await;
    for service in services() {
        assert!(!service.sources.is_empty());
        let info = service.info();
        let adapter = fixed_adapter(&service.kind, service.settings_at(&receiver));
        for row in &service.answers {
            receiver.on(row.rule());
            let outcome = adapter
                .deliver(&service.message(&service.to()), long_attempt())
                .await;
            row.assert((&service.kind, &info.retry), &outcome, service.to.is_none());
            if row.settings_only.is_some() {
                let outcome = adapter.deliver(&service.message(&[]), long_attempt()).await;
                row.assert((&service.kind, &info.retry), &outcome, true);
            }
            receiver.behave();
        }
    }
}

#[tokio::test]
async fn the_simulator_answers_as_the_files_say_when_it_takes_and_when_it_refuses() {
    let receiver = receiver().await;
    for service in services() {
        let mut revoked = service.settings_at(&receiver);
        let changes: Map<String, Value> = serde_json::from_value(service.revoked.clone()).unwrap();
        let url = receiver.url(&format!("/{}", service.kind));
        for (name, value) in changes {
            revoked[name] = json!(value.as_str().unwrap().replace("{url}", &url));
        }
        for (settings, row) in [(service.settings_at(&receiver), "taken"), (revoked, "revoked")] {
            let row = service.row(row);
            let recorder = Recorder::on();
            let attempt = Attempt {
                recorder: recorder.clone(),
                ..long_attempt()
            };
            let outcome = fixed_adapter(&service.kind, settings)
                .deliver(&service.message(&service.to()), attempt)
                .await;
            match (row.id.is_some(), &outcome) {
                (true, Outcome::Delivered(_)) => {}
                (false, Outcome::Failed(failure)) => {
                    assert_eq!(
                        Means::of(failure, &service.info().retry),
                        row.means,
                        "{}",
                        service.kind
                    )
                }
                _ => panic!("{} {}: {outcome:?}", service.kind, row.name),
            }
            let transcript = recorder.transcript().unwrap();
            let received = transcript
                .parts
                .iter()
                .find(|part| part.side == Side::Received)
                .unwrap();
            let (head, body) = received.text.split_once("\n\n").unwrap_or((&received.text, ""));
            assert!(
                head.starts_with(&row.status.to_string()),
                "{}: {head}",
                service.kind
            );
            assert_eq!(shape(body), row.shape(), "{} {}", service.kind, row.name);
        }
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_is_cut_to_what_the_service_takes() {
    let receiver = receiver().await;
    for service in services() {
        let adapter = fixed_adapter(&service.kind, service.settings_at(&receiver));
        for long in ["x", "ä", "🔥", "<&>", "*_`[\\\"\n"] {
            let mut message = service.message(&service.to());
            message.content.body = long.repeat(60_000);
            message.content.subject = long.repeat(3_000);
            let outcome = adapter.deliver(&message, long_attempt()).await;
            assert!(
                matches!(outcome, Outcome::Delivered(_)),
                "{} {long:?}: {outcome:?}",
                service.kind
            );
        }
    }
}

#[tokio::test]
async fn each_recipient_has_a_result_of_its_own() {
    let receiver = receiver().await;
    for service in services() {
        let (Some(to), Some(unknown)) = (&service.to, &service.unknown_to) else {
            continue;
        };
        let adapter = fixed_adapter(&service.kind, service.settings_at(&receiver));
        let outcome = adapter
            .deliver(&service.message(&[unknown, to]), long_attempt())
            .await;
        let refused = match &outcome {
            Outcome::Mixed(reports) => reports.iter().find_map(|report| report.result.as_ref().err()),
            _ => None,
        };
        let code = refused
            .map(|failure| failure.code.to_string())
            .unwrap_or_default();
        let (accepted, failed) = mixed(outcome);
        assert_eq!(accepted, [to.as_str()], "{}", service.kind);
        assert_eq!(
            (&failed[0].0, code.as_str()),
            (unknown, "RECIPIENT"),
            "{}",
            service.kind
        );
    }
}

#[tokio::test]
async fn type_data_that_a_service_cannot_read_is_a_permanent_failure_that_says_so() {
    let receiver = receiver().await;
    for service in services() {
        let adapter = fixed_adapter(&service.kind, service.settings_at(&receiver));
        let mut message = service.message(&service.to());
        message.content.type_data = Some(json!(["not", "an", "object"]).to_string());
        let failure = failure(adapter.deliver(&message, long_attempt()).await);
        assert_eq!(
            (failure.kind, failure.code.as_ref()),
            (domain::FailureKind::Permanent, "VALIDATION"),
            "{}: {failure:?}",
            service.kind
        );
        assert!(
            failure.detail.starts_with("typeData: "),
            "{}: {failure:?}",
            service.kind
        );
        assert!(failure.ours, "{}: the service was not asked", service.kind);
    }
    assert_eq!(receiver.counts().requests, 0, "nothing was sent");
}
