//! Adding a provider and changing one, with a form made from what its kind says of its settings.

use super::{
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    provider::{find, kind, place},
    provider_draft::to_fields,
    provider_fields::{Drawn, Fieldsets},
    show::marked,
};
use crate::{
    api::{PathText, lists::encode},
    draft,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use central::providers::PutError;
use delivery::KindInfo;
use domain::{Channel, FieldError};
use store::directory::Provider;

#[derive(Template)]
#[template(path = "provider/kinds.html")]
struct Kinds {
    frame: Frame,
    /// What was looked for.
    q: String,
    groups: Vec<KindGroup>,
}
framed!(Kinds);

/// The kinds that deliver one type.
struct KindGroup {
    title: &'static str,
    kinds: Vec<KindInfo>,
}

/// By type, each type where its first kind stands; only those in which every word that was looked for is found.
fn grouped<'a>(kinds: impl Iterator<Item = &'a KindInfo>, q: &str) -> Vec<KindGroup> {
    let mut groups: Vec<KindGroup> = vec![];
    for info in kinds.filter(|info| matches(info, q)) {
        let title = channel_in_words(info.channel);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.kinds.push(info.clone()),
            None => groups.push(KindGroup {
                title,
                kinds: vec![info.clone()],
            }),
        }
    }
    groups
}

fn matches(info: &KindInfo, q: &str) -> bool {
    let text = format!(
        "{} {} {} {}",
        info.kind,
        info.title,
        channel_in_words(info.channel),
        info.channel
    )
    .to_lowercase();
    q.to_lowercase()
        .split_whitespace()
        .all(|word| text.contains(word))
}

fn channel_in_words(channel: Channel) -> &'static str {
    match channel {
        Channel::Email => "E-mail",
        Channel::Sms => "SMS",
        Channel::HomeAssistant => "Home Assistant",
        Channel::Teams => "Microsoft Teams",
        Channel::Capture => "For trials",
        other => other.as_str(),
    }
}

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

/// First which kind, then its form.
pub async fn new(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let frame = Frame::new(&state, &signed, "Add a provider", Nav::Providers).await?;
    let Some(name) = params.text("kind") else {
        let q = params.text("q").unwrap_or_default();
        let kinds = state.central.directory.registry().iter().map(|kind| kind.info());
        let groups = grouped(kinds, &q);
        return Ok(Kinds { frame, q, groups }.show(&state));
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
    let draft = draft::read(
        to_fields(&form, &info, None),
        signed.caller.tenant,
        None,
        &state.central.providers,
    );
    let made = match draft {
        Ok(draft) => {
            let providers = &state.central.providers;
            providers
                .create(signed.caller.tenant, draft, &signed.caller.actor)
                .await
        }
        Err(problems) => Err(PutError::Fields(problems)),
    };
    let problems = match made {
        Ok(made) => {
            let said = "The provider is added. Send a test to see whether it works.";
            return Ok(saved(&state, said, &made));
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
        return Ok(overtaken(&state, &id));
    }
    let draft = draft::read(
        to_fields(&form, &info, Some(&stored.provider)),
        signed.caller.tenant,
        Some(&stored),
        &state.central.providers,
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
        Ok(changed) => return Ok(saved(&state, "The changes are in force.", &changed)),
        Err(PutError::Fields(problems)) => problems,
        // In the moment between the look above and the change.
        Err(PutError::Store(store::Error::Conflict(_))) => return Ok(overtaken(&state, &id)),
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

/// To the form with what somebody else made of it.
fn overtaken(state: &Shared, id: &str) -> Response {
    let why =
        "Somebody else changed this provider meanwhile, so nothing was saved. Here it is as it stands now.";
    Flash::bad(why).at(&format!("{}/edit", place(id)), &state.console)
}

/// To the provider's page, with what to look at.
fn saved(state: &Shared, said: &str, stored: &Provider) -> Response {
    let flash = match state.central.providers.warnings(&stored.provider).as_slice() {
        [] => Flash::good(said),
        odd => Flash::good(format!("{said} Look at this: {}.", odd.join("; "))),
    };
    flash.at(&place(stored.provider.id.as_str()), &state.console)
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
