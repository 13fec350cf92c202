//! Sending a message by hand, to try things out. Goes the same way as everything else.

use super::{
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
};
use crate::{dto::submit::SubmitRequest, fields::Fields, query::Params, state::Shared};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::ingest::Submitted;
use domain::{Channel, FieldError, NotificationId};
use serde_json::{Map, Value};

#[derive(Template)]
#[template(path = "send/page.html")]
struct Page {
    frame: Frame,
    lists: Vec<String>,
    providers: Vec<(String, Channel)>,
    bad: Vec<FieldError>,
    typed: Typed,
    /// Makes a second press of the button harmless.
    key: String,
}
framed!(Page);

#[derive(Debug, Default)]
struct Typed {
    list: String,
    to: String,
    provider: String,
    channel: String,
    subject: String,
    body: String,
}

async fn show(state: &Shared, signed: &Signed, typed: Typed) -> Result<Page> {
    let tenant = signed.caller.tenant;
    let lists = state.central.store.lists(tenant).await?;
    let providers = state.central.store.providers(tenant).await?;
    Ok(Page {
        frame: Frame::new(state, signed, "Send a message", Nav::Send).await?,
        lists: lists.into_iter().map(|list| list.name).collect(),
        providers: providers
            .into_iter()
            .map(|p| (p.provider.id.to_string(), p.provider.channel))
            .collect(),
        bad: vec![],
        typed,
        key: NotificationId::mint().to_string(),
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let typed = Typed {
        list: params.text("list").unwrap_or_default(),
        provider: params.text("provider").unwrap_or_default(),
        ..Typed::default()
    };
    Ok(show(&state, &signed, typed).await?.show(&state))
}

pub async fn send(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let text = |name: &str| form.get(name).unwrap_or_default().to_owned();
    let typed = Typed {
        list: text("list"),
        to: text("to"),
        provider: text("provider"),
        channel: text("type"),
        subject: text("subject"),
        body: text("body"),
    };
    let id = form
        .get("notificationId")
        .and_then(|id| id.parse::<NotificationId>().ok());
    let read = SubmitRequest::read(typed.fields(id), None, &signed.caller);
    let submitted = state.central.ingest.submit(vec![read]).await?;
    let bad = match submitted.into_iter().next() {
        Some(Submitted::Accepted { id }) => {
            return Ok(Flash::good("The message is stored and on its way.")
                .at(&format!("/notifications/{id}"), &state.console));
        }
        Some(Submitted::Duplicate { id, .. }) => {
            return Ok(Flash::good("This message was sent already; here it is.")
                .at(&format!("/notifications/{id}"), &state.console));
        }
        Some(Submitted::Refused(problems)) => problems,
        None => vec![],
    };
    let page = Page {
        bad: bad.into_iter().map(in_form_words).collect(),
        ..show(&state, &signed, typed).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

impl Typed {
    /// As the API would have it.
    fn fields(&self, id: Option<NotificationId>) -> Fields {
        let mut map = Map::new();
        let mut put = |name: &str, value: &str| {
            if !value.trim().is_empty() {
                map.insert(name.into(), value.into());
            }
        };
        put("listName", self.list.trim());
        put("providerId", self.provider.trim());
        put("type", self.channel.trim());
        put("subject", &self.subject);
        put("body", &self.body);
        let to: Vec<Value> = self
            .to
            .split([',', ';', '\n'])
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .map(Value::from)
            .collect();
        if !to.is_empty() {
            map.insert("to".into(), to.into());
        }
        if let Some(id) = id {
            map.insert("notificationId".into(), id.to_string().into());
        }
        Fields::new(map)
    }
}

fn in_form_words(problem: FieldError) -> FieldError {
    let name = match problem.field.as_str() {
        "listName" => "List",
        "providerId" => "Provider",
        "type" => "Type",
        "subject" => "Subject",
        "body" => "Text",
        other if other.starts_with("to") => "Addresses",
        other => other,
    };
    FieldError::new(name, problem.problem.clone())
}
