//! What each service's callbacks mean, as the files in `tests/receipts` have it, with signatures that another program made.

use crate::{
    answers::services,
    world::{adapter, long_attempt, outside},
};
use delivery::{
    Captured, Deadline, OptOut, OptOutOf, Registry,
    kind::{Owner, Settings},
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptState, ReceiptsBy},
};
use domain::{ProviderId, TenantId};
use hyper::{
    HeaderMap, Method,
    header::{HeaderName, HeaderValue},
};
use serde::Deserialize;
use serde_json::json;
use simulator::{HttpOptions, HttpReceiver, ReceiptPlan, http::HttpRule, receipts::CallbackPlace};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    kind: String,
    /// What callbacks need besides the settings in `tests/answers`.
    settings: Settings,
    sources: String,
    calls: Vec<Call>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default = "post")]
    method: String,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    receipts: Option<Vec<ExpectedReceipt>>,
    answer: Option<String>,
    refused: Option<String>,
}

fn post() -> String {
    "POST".into()
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectedReceipt {
    state: ReceiptState,
    id: Option<String>,
    correlation: Option<String>,
    recipient: Option<String>,
    code: Option<String>,
    provider_code: Option<String>,
    detail: Option<String>,
    hold: Option<String>,
    #[serde(default)]
    unproven: bool,
}

impl From<Receipt> for ExpectedReceipt {
    fn from(receipt: Receipt) -> Self {
        Self {
            state: receipt.state,
            id: receipt.provider_message_id,
            correlation: receipt.correlation.map(|c| c.to_string()),
            recipient: receipt.recipient,
            code: receipt.code,
            provider_code: receipt.provider_code,
            detail: receipt.detail,
            hold: receipt.hold.map(|hold| hold.as_str().to_owned()),
            unproven: receipt.unproven,
        }
    }
}

impl Call {
    fn read(&self, kind: &str, settings: &Settings) -> Result<CallbackContent, CallbackRefused> {
        let header = |(name, value): (&String, &String)| {
            let name = HeaderName::try_from(name).unwrap();
            (name, HeaderValue::try_from(value).unwrap())
        };
        let headers: HeaderMap = self.headers.iter().map(header).collect();
        let callback = Callback {
            method: &Method::from_bytes(self.method.as_bytes()).unwrap(),
            url: &self.url,
            headers: &headers,
            body: self.body.as_bytes(),
        };
        registry().get(kind).unwrap().read_callback(settings, &callback)
    }
}

fn registry() -> Registry {
    Registry::standard(Arc::new(outside()), Captured::default())
}

fn all() -> Vec<Service> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/receipts");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    };
    files.map(read).collect()
}

impl Service {
    fn settings(&self) -> Settings {
        let answers = services();
        let own = answers.iter().find(|service| service.kind == self.kind).unwrap();
        let plain = own.settings.to_string().replace("{url}", "https://api.example");
        let mut settings: Settings = serde_json::from_str(&plain).unwrap();
        settings.extend(self.settings.clone());
        settings
    }
}

#[test]
fn every_callback_of_every_service_means_what_its_file_says() {
    for service in all() {
        assert!(!service.sources.is_empty());
        let settings = service.settings();
        for call in &service.calls {
            let at = format!("{}, {:?}", service.kind, call.name);
            match call.read(&service.kind, &settings) {
                Ok(CallbackContent::Receipts(receipts)) => {
                    let told: Vec<_> = receipts.into_iter().map(ExpectedReceipt::from).collect();
                    assert_eq!(Some(&told), call.receipts.as_ref(), "{at}");
                }
                Ok(CallbackContent::Answer(answer)) => assert_eq!(Some(answer), call.answer, "{at}"),
                Err(refused) => {
                    let word = match refused {
                        CallbackRefused::Signature => "signature",
                        CallbackRefused::Unreadable(_) => "unreadable",
                        other => panic!("{at}: {other}"),
                    };
                    assert_eq!(Some(word), call.refused.as_deref(), "{at}");
                }
            }
        }
    }
}

#[test]
fn every_kind_that_sends_receipts_has_its_file_and_no_other() {
    let mut files: Vec<_> = all().into_iter().map(|service| service.kind).collect();
    let registry = registry();
    let tells = registry
        .iter()
        .filter(|kind| kind.receipts_by() != ReceiptsBy::Nothing);
    let mut kinds: Vec<_> = tells.map(|kind| kind.info().kind.to_owned()).collect();
    files.sort();
    kinds.sort();
    assert_eq!(files, kinds);
}

#[test]
fn what_says_that_a_recipient_wants_no_more_is_something_that_the_service_says() {
    let registry = registry();
    let mut known = BTreeMap::new();
    for kind in registry.iter() {
        let name = kind.info().kind;
        let said = ["answers", "receipts"].map(|folder| {
            // Interakt passes on what Meta says.
            let whose = name.replace("interakt", "meta");
            let file = format!("{}/tests/{folder}/{whose}.json", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(file).unwrap_or_default()
        });
        for OptOut { code, of } in kind.opt_outs() {
            let word = format!("\"providerCode\": \"{code}\"");
            assert!(said.iter().any(|file| file.contains(&word)), "{name}: {code}");
            known.entry(name).or_insert_with(Vec::new).push((*code, *of));
        }
    }
    use OptOutOf::{Everything, SuchMessages, Topic};
    let blocked = "Forbidden: bot was blocked by the user";
    let expected = BTreeMap::from([
        ("interakt", vec![("131050", SuchMessages)]),
        ("meta", vec![("131050", SuchMessages)]),
        (
            "msg91",
            vec![
                ("9", Topic),
                ("ndnc", Topic),
                ("17", Everything),
                ("blocked", Everything),
            ],
        ),
        ("telegram", vec![(blocked, Everything)]),
        ("twilio", vec![("21610", Everything)]),
    ]);
    assert_eq!(known, expected);
}

#[test]
fn whoever_signs_is_not_believed_while_the_secret_is_not_set_up() {
    for service in all().into_iter().filter(|service| !service.settings.is_empty()) {
        let mut settings = service.settings();
        for name in service.settings.keys() {
            settings.remove(name);
        }
        if service.kind == "twilio" {
            // An API key's secret signs nothing.
            settings.insert("authToken".into(), service.settings["authToken"].clone());
            settings.insert("apiKeySid".into(), json!("SK00000000000000000000000000000000"));
        }
        let delivered = service
            .calls
            .iter()
            .find(|call| call.name == "delivered")
            .unwrap();
        let refused = delivered.read(&service.kind, &settings);
        assert!(
            matches!(refused, Err(CallbackRefused::NotSetUp(_))),
            "{}: {refused:?}",
            service.kind
        );
    }
}

/// Where receipts go, and how the service is told, of the two that are told with each message.
#[tokio::test]
async fn a_service_that_is_told_with_each_message_is_told_where_and_about_what() {
    const CALLBACK: &str = "https://waypost.example/callbacks/p/0123456789abcdef0123456789abcdef";
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    for service in services() {
        let registry = registry();
        let kind = registry.get(&service.kind).unwrap();
        let field = match service.kind.as_str() {
            "twilio" => "StatusCallback",
            "pushover" => "callback",
            _ => "",
        };
        let each_message = kind.receipts_by() == ReceiptsBy::EachMessage;
        assert_eq!(each_message, !field.is_empty(), "{}", service.kind);
        let to = service.to.clone().unwrap_or_default();
        let mut message = service.message(&[&to]);
        if service.kind == "pushover" {
            message.content.type_data = Some(json!({"priority": 2}).to_string());
        }
        let owner = Owner {
            tenant: TenantId::DEFAULT,
            provider: ProviderId::new("p"),
        };
        let settings = service.settings_at(&receiver);
        let settings = settings.as_object().unwrap();
        let adapter = kind.build_with_receipts(&owner, settings, CALLBACK).unwrap();
        adapter.deliver(&message, long_attempt()).await;
        let sent = receiver.requests();
        let body = String::from_utf8_lossy(&sent.last().unwrap().body).into_owned();
        assert_eq!(
            body.contains("0123456789abcdef0123456789abcdef"),
            each_message,
            "{body}"
        );
        if each_message {
            let fields: BTreeMap<_, _> = url::form_urlencoded::parse(body.as_bytes()).collect();
            let url = url::Url::parse(&fields[field]).unwrap();
            let reference = url.query_pairs().find(|(name, _)| name == "ref").unwrap().1;
            assert_eq!(reference, format!("{}.0.{to}", message.id));
        }
    }
}

#[tokio::test]
async fn a_callback_address_stays_out_of_outcomes_and_transcripts() {
    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let url = format!("https://waypost.example/callbacks/p/{SECRET}");
    receiver.on(HttpRule::status(400).body(&format!("{url} {url}?ref=x")));
    let services = services();
    let twilio = services.iter().find(|service| service.kind == "twilio").unwrap();
    let owner = Owner {
        tenant: TenantId::DEFAULT,
        provider: ProviderId::new("p"),
    };
    let settings = twilio.settings_at(&receiver);
    let registry = registry();
    let kind = registry.get("twilio").unwrap();
    let adapter = kind
        .build_with_receipts(&owner, settings.as_object().unwrap(), &url)
        .unwrap();
    let recorder = delivery::Recorder::on();
    let attempt = delivery::Attempt {
        recorder: recorder.clone(),
        ..long_attempt()
    };
    let outcome = adapter
        .deliver(&twilio.message(&[twilio.to.as_deref().unwrap()]), attempt)
        .await;
    let shown = format!("{outcome:?} {adapter:?} {:?}", recorder.transcript().unwrap());
    assert!(!shown.contains(SECRET), "{shown}");
}

#[tokio::test]
async fn pushover_is_asked_before_an_acknowledgement_is_believed() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let services = services();
    let pushover = services
        .iter()
        .find(|service| service.kind == "pushover")
        .unwrap();
    let adapter = adapter("pushover", pushover.settings_at(&receiver));
    let unproven = Receipt {
        provider_message_id: Some("rLqVuqTRh62UzxtmqiaLzQmVcPgiCy".into()),
        unproven: true,
        ..Receipt::new(ReceiptState::Read)
    };
    let deadline = || Deadline::after(Duration::from_secs(20));
    let said = |acknowledged: u8, delivered: u64| json!({"status": 1, "acknowledged": acknowledged, "last_delivered_at": delivered, "expired": 0});
    for (body, state) in [
        (said(1, 5), ReceiptState::Read),
        (said(0, 5), ReceiptState::Delivered),
        (said(0, 0), ReceiptState::Accepted),
    ] {
        receiver.on(HttpRule::status(200).body(&body.to_string()));
        let proven = adapter.ask_receipt(&unproven, deadline()).await.unwrap().unwrap();
        assert_eq!((proven.state, proven.unproven), (state, false));
        receiver.behave();
    }
    receiver.on(HttpRule::status(404).body(r#"{"status":0,"errors":["receipt not found"]}"#));
    assert_eq!(adapter.ask_receipt(&unproven, deadline()).await.unwrap(), None);
    receiver.behave();
    receiver.on(HttpRule::status(503));
    assert!(adapter.ask_receipt(&unproven, deadline()).await.is_err());
    let asked = receiver.requests();
    let asked = asked.last().unwrap();
    assert_eq!(
        asked.path,
        "/pushover/1/receipts/rLqVuqTRh62UzxtmqiaLzQmVcPgiCy.json"
    );
}

/// The simulator and the adapters are both held against the files; this holds them against each other.
#[tokio::test]
async fn what_the_simulated_services_tell_is_read_as_what_they_meant() {
    let far_end = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let ours = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    far_end.receipts().tell(Some(ReceiptPlan {
        states: ReceiptState::ALL.map(|state| state.to_string()).to_vec(),
        shuffled: true,
        twice: true,
        ..ReceiptPlan::default()
    }));
    let all_answers = services();
    for service in all() {
        let own = all_answers.iter().find(|own| own.kind == service.kind).unwrap();
        let url = ours.url(&format!(
            "/callbacks/{}/0123456789abcdef0123456789abcdef",
            service.kind
        ));
        let secret = ["appSecret", "webhookSecret", "authToken"]
            .iter()
            .find_map(|name| service.settings.get(*name)?.as_str());
        let place = CallbackPlace {
            url: Some(url.clone()),
            secret: secret.unwrap_or_default().to_owned(),
        };
        far_end.receipts().place(&service.kind, place);
        let mut settings = own.settings_at(&far_end).as_object().unwrap().clone();
        settings.extend(service.settings.clone());
        let owner = Owner {
            tenant: TenantId::DEFAULT,
            provider: ProviderId::new("p"),
        };
        let registry = registry();
        let kind = registry.get(&service.kind).unwrap();
        let adapter = kind.build_with_receipts(&owner, &settings, &url).unwrap();
        let to = own.to.clone().unwrap();
        let mut message = own.message(&[&to]);
        if service.kind == "pushover" {
            message.content.type_data = Some(json!({"priority": 2}).to_string());
        }
        ours.forget();
        adapter.deliver(&message, long_attempt()).await;
        let mut expected: Vec<ReceiptState> = match service.kind.as_str() {
            "msg91" => vec![ReceiptState::Failed, ReceiptState::Delivered],
            "pushover" => vec![ReceiptState::Read],
            _ => ReceiptState::ALL.to_vec(),
        };
        expected = expected.into_iter().flat_map(|state| [state, state]).collect();
        let n = expected.len() as u64;
        ours.wait_until(|counts| counts.taken >= n).await;
        let mut states = vec![];
        for request in ours.requests() {
            let query = request.query.map_or(String::new(), |query| format!("?{query}"));
            let callback = Callback {
                method: &request.method,
                url: &ours.url(&format!("{}{query}", request.path)),
                headers: &request.headers,
                body: &request.body,
            };
            let read = kind.read_callback(&settings, &callback);
            let Ok(CallbackContent::Receipts(receipts)) = read else {
                panic!("{}: {read:?}", service.kind)
            };
            for receipt in receipts {
                let about = receipt.correlation.map(|about| about.to_string());
                match service.kind.as_str() {
                    "msg91" => assert_eq!(receipt.recipient.as_deref(), to.strip_prefix('+')),
                    _ => assert_eq!(about, Some(format!("{}.0.{to}", message.id)), "{}", service.kind),
                }
                assert!(receipt.provider_message_id.is_some());
                states.push(receipt.state);
            }
        }
        states.sort();
        assert_eq!(states, expected, "{}", service.kind);
    }
}
