//! Receipts on the dial: what the services tell about messages that have arrived, as somebody asks for it while they run.

use super::{done, fault::take_number, fields, is_form, refused};
use crate::{
    http::ReceiverState,
    receipts::{CallbackPlace, ReceiptPlan, Receipts, TELLING, stays_here},
};
use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};
use std::{sync::Arc, time::Duration};

const STATES: [&str; 4] = ["accepted", "delivered", "read", "failed"];
/// Each state a few times over.
const MAX_STATES: usize = 20;
const MAX_LATE_MS: f64 = 600_000.0;

/// What is to be told, about what, and to whom.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReceiptRequest {
    service: Option<String>,
    plan: ReceiptPlan,
    /// Where it goes, and what signs it, where the message does not say.
    place: Option<CallbackPlace>,
    /// About the last so many.
    last: Option<usize>,
    /// And about what arrives from now on.
    keep: bool,
}

impl ReceiptRequest {
    /// Reads `{service, states, code, lateMs, shuffled, twice, last, keep, url, secret}`; lists and numbers may be texts, as
    /// forms send them, and what is empty counts as absent.
    fn read(mut given: Map<String, Value>) -> Result<Self, String> {
        given.retain(|_, value| !value.is_null() && value.as_str().map(str::trim) != Some(""));
        let late = take_number(&mut given, "lateMs", 0.0, MAX_LATE_MS)?.unwrap_or(0.0);
        let last = take_number(&mut given, "last", 1.0, 1e6)?;
        let states = states(given.remove("states"))?;
        let mut text = |name: &str| match given.remove(name) {
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            // A code is a number as often as not.
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(format!("{name} must be text")),
            None => Ok(None),
        };
        let (service, code) = (text("service")?, text("code")?);
        let (url, secret) = (text("url")?, text("secret")?);
        let mut yes = |name: &str| {
            let value = given.remove(name);
            value.is_some_and(|value| value != Value::Bool(false) && value != "false")
        };
        let (shuffled, twice, keep) = (yes("shuffled"), yes("twice"), yes("keep"));
        if let Some(name) = given.keys().next() {
            return Err(format!("{name} is nothing that can be asked for"));
        }
        if service.as_deref().is_some_and(|name| !TELLING.contains(&name)) {
            return Err(format!("service must be one of {}", TELLING.join(", ")));
        }
        if service.is_none() && (url.is_some() || secret.is_some()) {
            return Err("url and secret are those of one service: say which".into());
        }
        if url.as_deref().is_some_and(|url| !stays_here(url)) {
            return Err(
                "url must be an http:// address of this machine, like http://127.0.0.1:8080/callbacks/…"
                    .into(),
            );
        }
        let place = (url.is_some() || secret.is_some()).then(|| CallbackPlace {
            url,
            secret: secret.unwrap_or_default(),
        });
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded where they are read"
        )]
        Ok(Self {
            service,
            plan: ReceiptPlan {
                states,
                code,
                after: Duration::from_millis(late as u64),
                shuffled,
                twice,
            },
            place,
            last: last.map(|n| n as usize),
            keep,
        })
    }
}

/// As a list, or as a form has it: with commas.
fn states(given: Option<Value>) -> Result<Vec<String>, String> {
    let named: Vec<String> = match given {
        None => return Ok(ReceiptPlan::default().states),
        Some(Value::String(text)) => text.split(',').map(|word| word.trim().to_owned()).collect(),
        Some(Value::Array(list)) => list
            .iter()
            .map(|word| word.as_str().unwrap_or_default().to_owned())
            .collect(),
        Some(_) => vec![],
    };
    let known = |state: &String| STATES.contains(&state.as_str());
    match (1..=MAX_STATES).contains(&named.len()) && named.iter().all(known) {
        true => Ok(named),
        false => Err(format!("states must be a list of {}", STATES.join(", "))),
    }
}

/// What is told from now on, and what was.
pub(super) fn so_far(receipts: &Receipts) -> Value {
    let counts = receipts.counts();
    let plan = receipts.plan().map(|plan| {
        json!({
            "states": plan.states, "code": plan.code, "lateMs": plan.after.as_millis() as u64,
            "shuffled": plan.shuffled, "twice": plan.twice,
        })
    });
    json!({"plan": plan, "taken": counts.taken, "refused": counts.refused})
}

pub(super) async fn read(State(state): State<Arc<ReceiverState>>) -> Json<Value> {
    Json(so_far(&state.receipts))
}

pub(super) async fn tell(
    State(state): State<Arc<ReceiverState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (from_page, given) = fields(&headers, &body);
    let asked = match given.and_then(ReceiptRequest::read) {
        Ok(asked) => asked,
        Err(why) => return refused(&why),
    };
    if let (Some(service), Some(place)) = (&asked.service, asked.place) {
        state.receipts.place(service, place);
    }
    let last = asked.last.unwrap_or(usize::MAX);
    let service = asked.service.as_deref();
    let telling = state.receipts.tell_about(service, last, &asked.plan, &state.stop);
    if asked.keep {
        state.receipts.tell_of(asked.service, Some(asked.plan));
    }
    match from_page {
        true => done(true),
        false => Json(json!({
            "messages": telling.messages, "receipts": telling.receipts, "unaddressed": telling.unaddressed,
        }))
        .into_response(),
    }
}

pub(super) async fn end(State(state): State<Arc<ReceiverState>>, headers: HeaderMap) -> Response {
    state.receipts.tell(None);
    done(is_form(&headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<ReceiptRequest, String> {
        ReceiptRequest::read(value.as_object().unwrap().clone())
    }

    #[test]
    fn receipts_are_asked_for_in_json_and_by_a_form_alike() {
        let json = read(
            json!({"service": "twilio", "states": ["failed", "read"], "code": 30005, "lateMs": 50, "twice": true, "last": 3}),
        );
        let form = read(
            json!({"service": "twilio", "states": "failed, read", "code": "30005", "lateMs": "50", "twice": "true", "last": "3", "url": "", "secret": " "}),
        );
        assert!(json.is_ok());
        assert_eq!(json, form);
        assert_eq!(read(json!({})).unwrap().plan, ReceiptPlan::default());
        for (bad, why) in [
            (json!({"service": "slack"}), "service must be one of"),
            (json!({"states": ["lost"]}), "states must be"),
            (json!({"states": ""}), ""),
            (json!({"url": "http://127.0.0.1:1/x"}), "say which"),
            (
                json!({"service": "meta", "url": "https://waypost.example/x"}),
                "of this machine",
            ),
            (
                json!({"service": "meta", "url": "http://10.0.0.1/x"}),
                "of this machine",
            ),
            (json!({"colour": "red"}), "colour"),
            (json!({"lateMs": -1}), "lateMs"),
        ] {
            match read(bad) {
                Err(error) => assert!(!why.is_empty() && error.contains(why), "{error}"),
                Ok(_) => assert_eq!(why, ""),
            }
        }
    }
}
