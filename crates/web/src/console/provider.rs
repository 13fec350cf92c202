//! One provider: how it does, its settings, trying it out, holding it, changing it.

use super::{
    failure::{Result, Trouble},
    flash::{Flash, redirect},
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    provider_fields::{Drawn, Fieldsets, to_fields},
    show::{LaneState, cut, number, took},
};
use crate::{
    api::{PathText, lists::encode},
    draft,
    dto::provider::{ProviderView, TestAnswer},
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::providers::{PutError, TestError};
use delivery::KindInfo;
use domain::{FieldError, ProviderId, retry::human, submission::limit};
use store::{directory::Provider, stats::FailureGroup};

#[derive(Template)]
#[template(path = "provider/page.html")]
struct Page {
    frame: Frame,
    view: ProviderView,
    kind_title: &'static str,
    state: LaneState,
    held: bool,
    waiting: u64,
    settings: Vec<(String, String)>,
    retry: String,
    limits: String,
    failures: Vec<FailureGroup>,
    /// What came of the test that was just made.
    tested: Option<TestAnswer>,
    test_problem: Option<String>,
    to: String,
    needs_recipient: bool,
}
framed!(Page);

#[derive(Template)]
#[template(path = "provider/kinds.html")]
struct Kinds {
    frame: Frame,
    kinds: Vec<KindInfo>,
}
framed!(Kinds);

#[derive(Template)]
#[template(path = "provider/form.html")]
struct Edit {
    frame: Frame,
    info: KindInfo,
    fields: Fieldsets,
    bad: Vec<FieldError>,
    /// Its id, when it exists.
    id: Option<String>,
    version: i64,
}
framed!(Edit);

async fn find(state: &Shared, signed: &Signed, id: &str) -> Result<Provider> {
    let found = state
        .central
        .store
        .provider(signed.caller.tenant, &ProviderId::new(id))
        .await?;
    found.ok_or_else(|| Trouble(Problem::not_found("provider")))
}

fn kind(state: &Shared, name: &str) -> Result<KindInfo> {
    let kind = state.central.directory.registry().get(name);
    kind.map(|kind| kind.info())
        .ok_or_else(|| Trouble(Problem::not_found("kind of provider")))
}

fn place(id: &str) -> String {
    format!("/providers/{}", encode(id))
}

async fn show(state: &Shared, signed: &Signed, id: &str) -> Result<Page> {
    let stored = find(state, signed, id).await?;
    let tenant = signed.caller.tenant;
    let store = &state.central.store;
    let frame = Frame::new(state, signed, stored.provider.name.clone(), Nav::Providers)
        .await?
        .live();
    let lane = store
        .lanes(tenant)
        .await?
        .into_iter()
        .find(|lane| lane.lane == stored.lane);
    let lane = lane.ok_or_else(|| Trouble(Problem::not_found("provider")))?;
    let info = state
        .central
        .directory
        .registry()
        .get(&stored.provider.kind)
        .map(|kind| kind.info());
    let mut failures = store.failures(tenant).await?;
    failures.retain(|group| group.provider == id);
    let view = ProviderView::from(stored.clone());
    Ok(Page {
        kind_title: info
            .as_ref()
            .map_or("a kind this program does not know", |info| info.title),
        state: LaneState::of(&lane, frame.now),
        held: lane.hold.is_some(),
        waiting: lane.waiting,
        settings: flat("", &view.settings),
        retry: retry_in_words(&stored),
        limits: limits_in_words(&stored),
        failures,
        tested: None,
        test_problem: None,
        to: String::new(),
        needs_recipient: stored.provider.channel.needs_recipients(),
        view,
        frame,
    })
}

/// Nested settings under their dotted names.
fn flat(prefix: &str, settings: &serde_json::Map<String, serde_json::Value>) -> Vec<(String, String)> {
    let mut rows = vec![];
    for (name, value) in settings {
        let name = format!("{prefix}{name}");
        match value {
            serde_json::Value::Object(inner) => rows.extend(flat(&format!("{name}."), inner)),
            serde_json::Value::String(text) => rows.push((name, text.clone())),
            other => rows.push((name, other.to_string())),
        }
    }
    rows
}

fn retry_in_words(stored: &Provider) -> String {
    let retry = &stored.provider.retry;
    let waits = match retry.shape {
        domain::retry::Shape::Fixed => format!("{} apart", human(retry.interval)),
        domain::retry::Shape::Exponential => format!(
            "the first wait {}, then {} × longer each time, at most {}",
            human(retry.interval),
            retry.factor,
            human(retry.cap)
        ),
    };
    let age = retry
        .max_age
        .map_or(String::new(), |age| format!("; given up after {}", human(age)));
    format!("up to {} attempts, {waits}{age}", retry.max_attempts)
}

fn limits_in_words(stored: &Provider) -> String {
    let limits = &stored.provider.limits;
    let rate = limits
        .per_second
        .map_or("no limit per second".into(), |n| format!("{n} per second"));
    format!("{} at once, {rate}", limits.concurrency)
}

pub async fn page(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    Ok(show(&state, &signed, &id).await?.show(&state))
}

/// First which kind, then its form.
pub async fn new(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let frame = Frame::new(&state, &signed, "Add a provider", Nav::Providers).await?;
    let Some(name) = params.text("kind") else {
        let kinds = state
            .central
            .directory
            .registry()
            .iter()
            .map(|kind| kind.info())
            .collect();
        return Ok(Kinds { frame, kinds }.show(&state));
    };
    let info = kind(&state, &name)?;
    let page = Edit {
        fields: Fieldsets::of(&info, None),
        bad: vec![],
        id: None,
        version: 0,
        info,
        frame,
    };
    Ok(page.show(&state))
}

pub async fn edit(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let stored = find(&state, &signed, &id).await?;
    let info = kind(&state, &stored.provider.kind)?;
    let title = format!("Change {}", stored.provider.name);
    let page = Edit {
        frame: Frame::new(&state, &signed, title, Nav::Providers).await?,
        fields: Fieldsets::of(&info, Some(&stored)),
        bad: vec![],
        id: Some(id),
        version: stored.version,
        info,
    };
    Ok(page.show(&state))
}

pub async fn create(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let info = kind(&state, form.get("kind").unwrap_or_default())?;
    let draft = draft::read(to_fields(&form, &info), None, state.central.directory.registry());
    let made = match draft {
        Ok(draft) => {
            let desk = &state.central.providers;
            desk.create(signed.caller.tenant, draft, &signed.caller.actor)
                .await
        }
        Err(problems) => Err(PutError::Fields(problems)),
    };
    let problems = match made {
        Ok(made) => {
            let said = Flash::good("The provider is added. Send a test to see whether it works.");
            return Ok(said.at(&place(made.provider.id.as_str()), &state.console));
        }
        Err(PutError::Fields(problems)) => problems,
        Err(PutError::Store(store::Error::Conflict(why))) => vec![FieldError::new("id", why)],
        Err(PutError::Store(error)) => return Err(error.into()),
    };
    let frame = Frame::new(&state, &signed, "Add a provider", Nav::Providers).await?;
    Ok(again(&state, frame, info, None, None, &form, problems))
}

pub async fn replace(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    let stored = find(&state, &signed, &id).await?;
    let info = kind(&state, &stored.provider.kind)?;
    if form.get("version").and_then(|text| text.parse().ok()) != Some(stored.version) {
        let why = "Somebody else changed this provider meanwhile, so nothing was saved. Here it is as it stands now.";
        return Ok(Flash::bad(why).at(&format!("{}/edit", place(&id)), &state.console));
    }
    let draft = draft::read(
        to_fields(&form, &info),
        Some(&stored),
        state.central.directory.registry(),
    );
    let changed = match draft {
        Ok(draft) => {
            state
                .central
                .providers
                .replace(&stored, draft, &signed.caller.actor)
                .await
        }
        Err(problems) => Err(PutError::Fields(problems)),
    };
    let problems = match changed {
        Ok(_) => return Ok(Flash::good("The changes are in force.").at(&place(&id), &state.console)),
        Err(PutError::Fields(problems)) => problems,
        Err(PutError::Store(error)) => return Err(error.into()),
    };
    let title = format!("Change {}", stored.provider.name);
    let frame = Frame::new(&state, &signed, title, Nav::Providers).await?;
    Ok(again(
        &state,
        frame,
        info,
        Some(id),
        Some(&stored),
        &form,
        problems,
    ))
}

/// The form once more, with what was typed and what is wrong with it.
fn again(
    state: &Shared,
    frame: Frame,
    info: KindInfo,
    id: Option<String>,
    stored: Option<&Provider>,
    form: &Form,
    problems: Vec<FieldError>,
) -> axum::response::Response {
    let mut fields = Fieldsets::of(&info, stored);
    fields.refill(form);
    let bad = fields.blame(problems);
    let page = Edit {
        version: stored.map_or(0, |stored| stored.version),
        frame,
        info,
        fields,
        bad,
        id,
    };
    page.show_as(state, StatusCode::UNPROCESSABLE_ENTITY)
}

/// One real attempt, now; the page answers with what the far end said.
pub async fn test(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let to = form
        .text("to")
        .filter(|to| to.chars().count() <= limit::ADDRESS && !to.contains('\0'));
    let tested = state
        .central
        .providers
        .test(signed.caller.tenant, &ProviderId::new(id.as_str()), to.clone())
        .await;
    let (tested, test_problem) = match tested {
        Ok(report) => (Some(TestAnswer::from(report)), None),
        Err(TestError::NotFound) => return Err(Trouble(Problem::not_found("provider"))),
        Err(TestError::NotUsable(why)) => (None, Some(why)),
        Err(TestError::Store(error)) => return Err(error.into()),
    };
    let page = Page {
        tested,
        test_problem,
        to: to.unwrap_or_default(),
        ..show(&state, &signed, &id).await?
    };
    Ok(page.show(&state))
}

pub async fn hold(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let why = form.text("reason").map(|why| cut(&why, 500));
    let desk = &state.central.providers;
    let known = desk
        .hold(
            signed.caller.tenant,
            &ProviderId::new(id.as_str()),
            why,
            &signed.caller.actor,
        )
        .await?;
    if !known {
        return Err(Trouble(Problem::not_found("provider")));
    }
    Ok(
        Flash::good("The provider is held: its notifications wait until you resume it.")
            .at(&place(&id), &state.console),
    )
}

pub async fn resume(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let desk = &state.central.providers;
    let known = desk
        .resume(
            signed.caller.tenant,
            &ProviderId::new(id.as_str()),
            &signed.caller.actor,
        )
        .await?;
    if !known {
        return Err(Trouble(Problem::not_found("provider")));
    }
    Ok(Flash::good("The provider goes on: what waited is sent now.").at(&place(&id), &state.console))
}

pub async fn delete(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let desk = &state.central.providers;
    let gone = desk
        .delete(
            signed.caller.tenant,
            &ProviderId::new(id.as_str()),
            &signed.caller.actor,
        )
        .await;
    match gone {
        Ok(true) => Ok(Flash::good("The provider is removed.").at("/providers", &state.console)),
        Ok(false) => Ok(redirect("/providers")),
        Err(store::Error::Conflict(_)) => {
            let why = "Notifications still wait for this provider, so it was not removed. Let them go out, or cancel them.";
            Ok(Flash::bad(why).at(&place(&id), &state.console))
        }
        Err(error) => Err(error.into()),
    }
}
