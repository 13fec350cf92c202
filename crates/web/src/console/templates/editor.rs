//! The editor: what a template says, and beside it what a message of it would say.

use super::{
    audience,
    draft::{Typed, sample},
    find, title,
};
use crate::{
    api::{PathText, lists::encode},
    console::{
        failure::{Result, Trouble},
        flash::Flash,
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::Badge,
    },
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{Html, IntoResponse},
};
use central::{
    events::ResendError,
    ingest::Submitted,
    templates::{Preview, PreviewError, TemplateError},
};
use domain::{
    Channel, FieldError, Usage,
    template::{Payload, TemplateIdentity},
};
use store::{
    events::{Event, EventFilter},
    query::Page as PageRequest,
    templates::{NewTemplate, Template as Stored, TemplateVersion},
};

#[derive(Template)]
#[template(path = "templates/editor.html")]
struct Page {
    frame: Frame,
    /// What is saved; none for a new one.
    current: Option<Stored>,
    typed: Typed,
    bad: Vec<FieldError>,
    preview: Shown,
    providers: Vec<String>,
    versions: Vec<TemplateVersion>,
    /// The newest events of its type, to fill the preview with.
    events: Vec<Event>,
    to: String,
    /// What hangs on it, for whoever may remove it.
    usage: Usage,
}
framed!(Page);

/// What the preview shows.
#[derive(Template, Default)]
#[template(path = "templates/preview.html")]
struct Shown {
    preview: Option<Preview>,
    why_not: Vec<FieldError>,
}

/// Events to choose from.
const EVENTS_OFFERED: u32 = 10;

const NOTHING: &str = "{}";
const EXAMPLE: &str = "{\n  \"guestName\": \"Asha Rao\",\n  \"checkinDate\": \"2026-03-15T00:00:00Z\"\n}";

impl Page {
    fn is_deleted(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|template| template.deleted_at.is_some())
    }

    fn may_save(&self) -> bool {
        self.frame.may_administer() && !self.is_deleted()
    }
}

async fn show(
    state: &Shared,
    signed: &Signed,
    current: Option<Stored>,
    typed: Typed,
    bad: Vec<FieldError>,
) -> Result<Page> {
    let tenant = signed.caller.tenant;
    let providers = state.central.store.providers(tenant).await?;
    let versions = match &current {
        Some(template) => state.central.store.template_versions(tenant, template.id).await?,
        None => vec![],
    };
    let name = current
        .as_ref()
        .map_or_else(|| "New template".into(), |t| title(&t.identity));
    let usage = match &current {
        Some(template) => state.central.usage_of_template(tenant, template).await?,
        None => Usage::default(),
    };
    Ok(Page {
        usage,
        frame: Frame::new(state, signed, name, Nav::Templates).await?,
        preview: preview_of(state, signed, current.as_ref(), &typed).await?,
        providers: providers.into_iter().map(|p| p.provider.id.to_string()).collect(),
        events: events_of(state, signed, &typed.event_type).await?,
        current,
        typed,
        bad,
        versions,
        to: String::new(),
    })
}

async fn events_of(state: &Shared, signed: &Signed, event_type: &str) -> Result<Vec<Event>> {
    if event_type.is_empty() {
        return Ok(vec![]);
    }
    let filter = EventFilter {
        event_type: Some(event_type.to_owned()),
        ..EventFilter::default()
    };
    let newest = PageRequest {
        limit: EVENTS_OFFERED,
        after: None,
    };
    let tenant = Some(signed.caller.tenant);
    Ok(state.central.store.events(tenant, &filter, newest).await?.rows)
}

/// What the preview is filled with: what a message of the event that was chosen would be filled with now, or what was typed.
async fn values(state: &Shared, signed: &Signed, typed: &Typed) -> Result<Payload, PreviewError> {
    if let Ok(id) = typed.event.parse() {
        match state.central.events.values(signed.caller.tenant, id).await {
            Ok(values) => return Ok(values),
            // It was purged since the page was made.
            Err(ResendError::NotFound(_)) => {}
            Err(ResendError::Store(error)) => return Err(PreviewError::Store(error)),
            Err(why) => {
                let why = FieldError::new("event", why.to_string());
                return Err(PreviewError::Fields(vec![why]));
            }
        }
    }
    let payload = match typed.payload.trim() {
        "" => NOTHING,
        payload => payload,
    };
    Ok(Payload::read(payload)?)
}

async fn preview_of(
    state: &Shared,
    signed: &Signed,
    current: Option<&Stored>,
    typed: &Typed,
) -> Result<Shown> {
    match previewed(state, signed, current, typed).await {
        Ok(preview) => Ok(Shown {
            preview: Some(preview),
            why_not: vec![],
        }),
        Err(PreviewError::Fields(why_not)) => Ok(Shown {
            preview: None,
            why_not,
        }),
        Err(PreviewError::Store(error)) => Err(error.into()),
    }
}

async fn previewed(
    state: &Shared,
    signed: &Signed,
    current: Option<&Stored>,
    typed: &Typed,
) -> Result<Preview, PreviewError> {
    let draft = typed.draft(current).map_err(PreviewError::Fields)?;
    let values = values(state, signed, typed).await?;
    let (templates, tenant) = (&state.central.templates, signed.caller.tenant);
    templates
        .preview_with(tenant, &draft.identity, &draft.content, &values)
        .await
}

pub async fn new(State(state): State<Shared>, signed: Signed) -> Result {
    let typed = Typed {
        channel: Channel::Email.to_string(),
        body: "Dear {{guestName}}, see you on {{checkinDate}}.".into(),
        active: true,
        event_type: String::new(),
        payload: EXAMPLE.into(),
        ..Typed::default()
    };
    let mut page = show(&state, &signed, None, typed, vec![]).await?;
    // Nothing was typed yet, so nothing is wrong yet.
    page.preview.why_not.clear();
    Ok(page.show(&state))
}

pub async fn create(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let typed = Typed::read(&form);
    if form.get("action") == Some("preview") {
        return Ok(show(&state, &signed, None, typed, vec![]).await?.show(&state));
    }
    let tenant = signed.caller.tenant;
    let bad = match typed.draft(None) {
        Err(bad) => bad,
        Ok(draft) => {
            let new = NewTemplate {
                tenant,
                identity: draft.identity,
                content: draft.content,
            };
            match state.central.templates.create(&new, &signed.caller.actor).await {
                Ok(saved) => return Ok(said(&state, &saved.template, &saved.warnings)),
                Err(TemplateError::Fields(bad)) => bad,
                Err(TemplateError::Store(store::Error::Conflict(why))) => vec![FieldError::new("", why)],
                Err(TemplateError::Store(error)) => return Err(error.into()),
            }
        }
    };
    let page = show(&state, &signed, None, typed, bad).await?;
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

pub async fn page(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let current = find(&state, &signed, &id, None).await?;
    let typed = Typed::of(&current);
    let page = show(&state, &signed, Some(current), typed, vec![]).await?;
    Ok(page.show(&state))
}

pub async fn save(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let current = find(&state, &signed, &id, None).await?;
    let typed = Typed::read(&form);
    if form.get("action") == Some("preview") {
        return Ok(show(&state, &signed, Some(current), typed, vec![])
            .await?
            .show(&state));
    }
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let bad = match typed.draft(Some(&current)) {
        Err(bad) => bad,
        Ok(draft) => {
            let based_on = draft.version.unwrap_or_default();
            let templates = &state.central.templates;
            match templates
                .save(tenant, current.id, based_on, &draft.content, actor)
                .await
            {
                Ok(Some(saved)) => return Ok(said(&state, &saved.template, &saved.warnings)),
                Ok(None) => return Err(Trouble(Problem::not_found("template"))),
                Err(TemplateError::Fields(bad)) => bad,
                Err(TemplateError::Store(store::Error::Conflict(why))) => {
                    let next = "Copy what you wrote, load the page again and put it in there.";
                    vec![FieldError::new("", format!("{why}. {next}"))]
                }
                Err(TemplateError::Store(error)) => return Err(error.into()),
            }
        }
    };
    let page = show(&state, &signed, Some(current), typed, bad).await?;
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

fn said(state: &Shared, template: &Stored, warnings: &[String]) -> axum::response::Response {
    let version = template.version;
    let flash = match warnings {
        [] => Flash::good(format!("Saved as version {version}.")),
        odd => Flash::good(format!(
            "Saved as version {version}. Look at this: {}.",
            odd.join("; ")
        )),
    };
    flash.at(&format!("/templates/{}", template.id), &state.console)
}

/// The preview alone, for the script that keeps it fresh.
pub async fn preview(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let typed = Typed::read(&form);
    let shown = preview_of(&state, &signed, None, &typed).await?;
    let html = shown.render().map_err(|_| Trouble(Problem::internal()))?;
    Ok(Html(html).into_response())
}

/// Sends one message of what is saved.
pub async fn test(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let current = find(&state, &signed, &id, None).await?;
    let to = form.text("to");
    let payload = form.text("payload").unwrap_or_else(|| sample(&current.content));
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let tested = state
        .central
        .templates
        .test(tenant, &current, &payload, to.clone(), actor)
        .await;
    let bad = match tested {
        Ok(tested) => match tested.submitted {
            Submitted::Accepted { id } | Submitted::Duplicate { id, .. } => {
                let said = Flash::good("The test is stored and on its way.");
                return Ok(said.at(&format!("/notifications/{id}"), &state.console));
            }
            Submitted::Refused(bad) => bad,
        },
        Err(PreviewError::Fields(bad)) => bad,
        Err(PreviewError::Store(error)) => return Err(error.into()),
    };
    let typed = Typed {
        payload,
        ..Typed::of(&current)
    };
    let page = Page {
        to: to.unwrap_or_default(),
        ..show(&state, &signed, Some(current), typed, bad).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

pub async fn delete(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let current = find(&state, &signed, &id, None).await?;
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let flash = match state.central.templates.delete(tenant, current.id, actor).await? {
        true => Flash::good("The template serves nothing any more. Its versions stay."),
        false => Flash::bad("There is no such template any more."),
    };
    Ok(flash.at("/templates", &state.console))
}

/// What the form calls each field.
fn default_name() -> &'static str {
    TemplateIdentity::DEFAULT_NAME
}
