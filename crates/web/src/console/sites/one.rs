//! One site: its agent, what is parked in its buffer, its calls, its events, and what it sent.

use super::source::{Acted, CallRow, EventRow, Known, ParkedPage, SiteAction, SiteTrouble, known_sites};
use crate::{
    api::{PathText, lists::encode},
    console::{
        failure::{Result, Trouble},
        flash::Flash,
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{Badge, age, counted, number},
    },
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;

#[derive(Template)]
#[template(path = "sites/one.html")]
struct Page {
    frame: Frame,
    site: Known,
    agents: bool,
    parked: Asked<ParkedPage>,
    calls: Asked<Vec<CallRow>>,
    events: Asked<Vec<EventRow>>,
}
framed!(Page);

/// What a site answered, or why it did not.
struct Asked<T> {
    answer: T,
    trouble: Option<SiteTrouble>,
}

impl<T: Default> Asked<T> {
    fn of(answer: Result<T, SiteTrouble>) -> Self {
        match answer {
            Ok(answer) => Self {
                answer,
                trouble: None,
            },
            Err(trouble) => Self {
                answer: T::default(),
                trouble: Some(trouble),
            },
        }
    }

    fn none() -> Self {
        Self {
            answer: T::default(),
            trouble: None,
        }
    }
}

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    mut params: Params,
) -> Result {
    let tenant = signed.caller.tenant;
    let site = known_sites(&state, tenant)
        .await?
        .into_iter()
        .find(|site| site.id == id);
    let site = site.ok_or_else(|| Problem::not_found("site"))?;
    let frame = Frame::new(&state, &signed, id.clone(), Nav::Sites).await?.live();
    let after = params.text("after");
    let (parked, calls, events) = match &state.sites {
        Some(desk) if site.agent.is_some() => (
            Asked::of(desk.parked(tenant, &id, after.as_deref()).await),
            Asked::of(desk.calls(tenant, &id).await),
            Asked::of(desk.events(tenant, &id).await),
        ),
        _ => (Asked::none(), Asked::none(), Asked::none()),
    };
    let page = Page {
        agents: state.sites.is_some(),
        frame,
        site,
        parked,
        calls,
        events,
    };
    Ok(page.show(&state))
}

pub async fn retry(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    act(&state, &signed, &id, &form, SiteAction::Retry).await
}

pub async fn discard(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    act(&state, &signed, &id, &form, SiteAction::Discard).await
}

async fn act(state: &Shared, signed: &Signed, id: &str, form: &Form, action: SiteAction) -> Result {
    let Some(desk) = &state.sites else {
        return Err(Trouble(Problem::not_found("site")));
    };
    let place = format!("/sites/{}", encode(id));
    let (mut done, mut late) = (0, 0);
    for message in form.all("id") {
        let acted = desk
            .act(signed.caller.tenant, id, message, action, &signed.caller.actor)
            .await;
        match acted {
            Ok(Acted::Done) => done += 1,
            Ok(Acted::TooLate) => late += 1,
            Err(trouble) => {
                let before = if done > 0 {
                    format!("{done} were done before that. ")
                } else {
                    String::new()
                };
                return Ok(Flash::bad(format!("{before}{}", trouble.in_words())).at(&place, &state.console));
            }
        }
    }
    if done + late == 0 {
        return Ok(Flash::bad("Choose some messages first: tick their boxes.").at(&place, &state.console));
    }
    let verb = match action {
        SiteAction::Retry => "sent round again",
        SiteAction::Discard => "discarded",
    };
    let mut text = format!("The site has {} {verb}.", counted(done, "message", "messages"));
    if late > 0 {
        text.push_str(&format!(" {late} not parked any more."));
    }
    let flash = if done > 0 {
        Flash::good(text)
    } else {
        Flash::bad(text)
    };
    Ok(flash.at(&place, &state.console))
}

impl SiteTrouble {
    pub fn in_words(&self) -> String {
        match self {
            SiteTrouble::NoSuchSite => "There is no such site.".into(),
            SiteTrouble::Offline { since: Some(since) } => {
                format!(
                    "The site is offline since {}; nothing was changed.",
                    crate::console::show::exact(*since)
                )
            }
            SiteTrouble::Offline { since: None } => "The site is offline; nothing was changed.".into(),
            SiteTrouble::Failed(why) => format!("The site could not do it: {why}"),
        }
    }
}
