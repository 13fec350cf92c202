//! What a person or a test does to far ends while they run: faults on the dial, and a look at what arrived.
//!
//! `GET /simulator` is the page, `/simulator/dial` the form for faults; `GET`, `POST` and `DELETE /simulator/faults` read, add and clear faults;
//! `GET` and `DELETE /simulator/received` read and forget what arrived; `POST /simulator/receipts` tells what became of it, `GET` says
//! what was told and `DELETE` ends it. Forms on the page post the same fields.

mod fault;
mod page;
mod receipts;

use crate::{
    http::{HttpReceiver, Received, ReceiverState},
    services::{Shown, shown},
    smtp::{Mail, SmtpServer},
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use fault::Fault;
use serde_json::{Map, Value, json};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The most faults in force, and the most arrivals that are shown.
const MAX_FAULTS: usize = 100;
const MAX_SHOWN: usize = 100;

/// The mail catcher beside the receiver, and the faults as they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub mail: Option<Arc<SmtpServer>>,
    faults: Mutex<Vec<Value>>,
}

impl Control {
    pub fn new(mail: Option<Arc<SmtpServer>>) -> Self {
        Self {
            mail,
            faults: Mutex::default(),
        }
    }

    fn faults(&self) -> MutexGuard<'_, Vec<Value>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn router() -> Router<Arc<ReceiverState>> {
    Router::new()
        .route("/simulator", get(look))
        .route("/simulator/faults", get(faults).post(add).delete(behave))
        .route("/simulator/received", get(received).delete(forget))
        .route(
            "/simulator/receipts",
            get(receipts::read).post(receipts::tell).delete(receipts::end),
        )
        .route("/simulator/receipts/end", post(receipts::end))
        .route("/simulator/dial", get(async || Html(page::render_dial())))
        .route("/simulator/behave", post(behave))
        .route("/simulator/forget", post(forget))
}

/// One thing that arrived, by whichever way.
struct Arrival {
    shown: Shown,
    ago: Duration,
    taken: bool,
}

impl Arrival {
    fn request(request: &Received) -> Self {
        Self {
            shown: shown(request),
            ago: request.at.elapsed(),
            taken: request.taken,
        }
    }

    fn mail(mail: &Mail) -> Self {
        Self {
            shown: Shown {
                service: "smtp",
                to: mail.recipients.join(", "),
                title: mail.subject(),
                text: mail.plain_text(),
            },
            ago: mail.at.elapsed(),
            taken: true,
        }
    }
}

/// Newest first.
fn arrivals(state: &ReceiverState) -> Vec<Arrival> {
    let mails = state
        .control
        .mail
        .as_ref()
        .map(|mail| mail.mails())
        .unwrap_or_default();
    let mut all: Vec<_> = state.record.requests().iter().map(Arrival::request).collect();
    all.extend(mails.iter().map(Arrival::mail));
    all.sort_by_key(|arrival| arrival.ago);
    all.truncate(MAX_SHOWN);
    all
}

async fn look(State(state): State<Arc<ReceiverState>>) -> Html<String> {
    let told = receipts::so_far(&state.receipts);
    Html(page::render(&arrivals(&state), &state.control.faults(), &told))
}

async fn received(State(state): State<Arc<ReceiverState>>) -> Json<Value> {
    let items = arrivals(&state);
    let items = items.iter().map(|one| {
        json!({
            "service": one.shown.service, "to": one.shown.to, "title": one.shown.title, "text": one.shown.text,
            "secondsAgo": one.ago.as_secs(), "taken": one.taken,
        })
    });
    Json(json!({ "items": items.collect::<Vec<_>>() }))
}

async fn faults(State(state): State<Arc<ReceiverState>>) -> Json<Value> {
    Json(json!({ "items": *state.control.faults() }))
}

/// What was asked for, by a form of the page or not.
fn fields(headers: &HeaderMap, body: &[u8]) -> (bool, Result<Map<String, Value>, String>) {
    // `curl -d` calls everything a form.
    let from_page = is_form(headers) && !body.trim_ascii_start().starts_with(b"{");
    let given = match from_page {
        true => Ok(form(body)),
        false => serde_json::from_slice(body).map_err(|e| format!("not a JSON object: {e}")),
    };
    (from_page, given)
}

fn refused(why: &str) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, format!("{why}\n")).into_response()
}

async fn add(State(state): State<Arc<ReceiverState>>, headers: HeaderMap, body: Bytes) -> Response {
    let (from_page, given) = fields(&headers, &body);
    let read = given.and_then(|given| Ok((Fault::read(given.clone())?, given)));
    let (fault, given) = match read {
        Ok(read) => read,
        Err(why) => return refused(&why),
    };
    {
        let mut faults = state.control.faults();
        if faults.len() >= MAX_FAULTS {
            let why = format!("there are {MAX_FAULTS} faults already; DELETE /simulator/faults first\n");
            return (StatusCode::CONFLICT, why).into_response();
        }
        faults.push(Value::Object(given));
    }
    match (fault.smtp_rule(), &state.control.mail) {
        (Some(rule), Some(mail)) => mail.on(rule),
        (Some(_), None) => {}
        (None, _) => state.dial.add(fault.http_rule()),
    }
    done(from_page)
}

async fn behave(State(state): State<Arc<ReceiverState>>, headers: HeaderMap) -> Response {
    state.dial.clear();
    if let Some(mail) = &state.control.mail {
        mail.behave();
    }
    state.control.faults().clear();
    done(is_form(&headers))
}

async fn forget(State(state): State<Arc<ReceiverState>>, headers: HeaderMap) -> Response {
    state.record.forget();
    state.receipts.forget();
    if let Some(mail) = &state.control.mail {
        mail.forget();
    }
    done(is_form(&headers))
}

fn done(from_page: bool) -> Response {
    match from_page {
        true => Redirect::to("/simulator").into_response(),
        false => StatusCode::NO_CONTENT.into_response(),
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
}

fn form(body: &[u8]) -> Map<String, Value> {
    let text = String::from_utf8_lossy(body);
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), crate::services::unescaped(value).into()))
        .collect()
}

impl HttpReceiver {
    /// Where people look at what arrived.
    pub fn page(&self) -> String {
        self.url("/simulator")
    }
}
