//! One provider: how it does, its settings, trying it out, holding it.

use super::{
    failure::{Result, Trouble},
    flash::{Flash, redirect},
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    once::Once,
    show::{LaneShown, counted, cut, marked, number},
};
use crate::{
    api::{PathText, lists::encode},
    dto::provider::ProviderView,
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::{lanes::LaneNow, providers::CallbackProblem};
use delivery::{KindInfo, receipt::ReceiptsBy};
use domain::{OnAmbiguous, ProviderId, TextFilters, Usage, retry::human};
use store::{directory::Provider, stats::FailureGroup};

/// A setting in words, with the name that programs use.
struct ShownSetting {
    label: String,
    key: String,
    value: String,
}

#[derive(Template)]
#[template(path = "provider/page.html")]
struct Page {
    frame: Frame,
    view: ProviderView,
    kind_title: &'static str,
    state: LaneShown,
    held: bool,
    waiting: u64,
    /// What hangs on it besides.
    usage: Usage,
    settings: Vec<ShownSetting>,
    retry: String,
    limits: String,
    unsure: &'static str,
    /// Messages are kept here instead of being sent.
    captures: bool,
    failures: Vec<FailureGroup>,
    needs_recipient: bool,
    /// Whether its kind tells anything later.
    tells_later: bool,
    /// Whether each message carries the address for receipts, so that nobody has to enter it.
    carried: bool,
}
framed!(Page);

pub async fn find(state: &Shared, signed: &Signed, id: &str) -> Result<Provider> {
    let found = state
        .central
        .store
        .provider(signed.caller.tenant, &ProviderId::new(id))
        .await?;
    found.ok_or_else(|| Trouble(Problem::not_found("provider")))
}

pub fn kind(state: &Shared, name: &str) -> Result<KindInfo> {
    let kind = state.central.directory.registry().get(name);
    kind.map(|kind| kind.info().clone())
        .ok_or_else(|| Trouble(Problem::not_found("kind of provider")))
}

/// Where its page is.
pub fn place(id: &str) -> String {
    format!("/providers/{}", encode(id))
}

async fn show(state: &Shared, signed: &Signed, id: &str) -> Result<Page> {
    let stored = find(state, signed, id).await?;
    let tenant = signed.caller.tenant;
    let store = &state.central.store;
    let frame = Frame::new(state, signed, stored.provider.name.clone(), Nav::Providers)
        .await?
        .live();
    let mut lanes = state.central.lanes(tenant).await?.into_iter();
    let now = lanes.find(|now| now.lane.lane == stored.lane);
    let LaneNow { lane, report, .. } = now.ok_or_else(|| Trouble(Problem::not_found("provider")))?;
    let info = state
        .central
        .directory
        .registry()
        .get(&stored.provider.kind)
        .map(|kind| kind.info());
    let mut failures = store.failures(tenant).await?;
    failures.retain(|group| group.provider == id);
    let view = ProviderView::from(stored.clone());
    let by = TextFilters {
        provider: Some(id.to_owned()),
        ..TextFilters::default()
    };
    // Only who may remove it is asked.
    let usage = match frame.may_administer() {
        true => state.central.usage_of(signed.caller.tenant, by).await?,
        false => Usage::default(),
    };
    let told_by = told_by(state, &stored.provider.kind);
    Ok(Page {
        kind_title: info
            .as_ref()
            .map_or("a kind this program does not know", |info| info.title),
        state: report.into(),
        held: lane.hold.is_some(),
        waiting: lane.waiting,
        usage,
        settings: named(flat("", &view.settings), info),
        retry: retry_in_words(&stored),
        limits: limits_in_words(&stored),
        unsure: match stored.provider.on_ambiguous {
            OnAmbiguous::Resend => "sent again",
            OnAmbiguous::Park => "parked for a person to decide",
        },
        captures: state.central.providers.captured(&stored.provider).is_some(),
        failures,
        needs_recipient: stored.provider.channel.needs_recipients(),
        tells_later: told_by != ReceiptsBy::Nothing,
        carried: told_by == ReceiptsBy::EachMessage,
        view,
        frame,
    })
}

fn told_by(state: &Shared, kind: &str) -> ReceiptsBy {
    let kind = state.central.directory.registry().get(kind);
    kind.map_or(ReceiptsBy::Nothing, |kind| kind.receipts_by())
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

fn named(settings: Vec<(String, String)>, info: Option<&KindInfo>) -> Vec<ShownSetting> {
    let label = |key: &str| {
        let of = |name: &str| info?.settings.iter().find(|setting| setting.name == name);
        let inside = || Some((of(key.split_once('.')?.0)?, key.split_once('.')?.1));
        match (of(key), inside()) {
            (Some(setting), _) => setting.label().into_owned(),
            (None, Some((setting, name))) => format!("{}: {name}", setting.label()),
            (None, None) => key.to_owned(),
        }
    };
    let shown = |(key, value): (String, String)| ShownSetting {
        label: label(&key),
        key,
        value,
    };
    settings.into_iter().map(shown).collect()
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
    format!(
        "up to {} attempts, {waits}{age}; answers nobody has a rule for: {} more",
        retry.max_attempts, retry.unknown_retries
    )
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

/// A new address for receipts, which the page shows once.
pub async fn callback(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let provider = ProviderId::new(id.as_str());
    let desk = &state.central.providers;
    let made = desk
        .new_callback(signed.caller.tenant, &provider, &signed.caller.actor)
        .await;
    match made {
        Ok(made) => {
            let once = Once::new(&signed, state.central.clock.now(), &place(&id), &id, made.url);
            Ok(once.go(&state.console, state.central.directory.sealer()))
        }
        Err(why @ (CallbackProblem::NoReceipts(_) | CallbackProblem::NoPublicUrl)) => {
            let words = format!("No address was made: {why}.");
            Ok(Flash::bad(&words).at(&place(&id), &state.console))
        }
        Err(CallbackProblem::NotFound) => Err(Trouble(Problem::not_found("provider"))),
        Err(CallbackProblem::Store(error)) => Err(error.into()),
    }
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
        .await;
    let said = "The provider is held: its notifications wait until you resume it.";
    told(&state, &id, known, said)
}

pub async fn resume(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let desk = &state.central.providers;
    let known = desk
        .resume(
            signed.caller.tenant,
            &ProviderId::new(id.as_str()),
            &signed.caller.actor,
        )
        .await;
    told(
        &state,
        &id,
        known,
        "The provider goes on: what waited is sent now.",
    )
}

/// Tries it at once. A hold that somebody set is for somebody to end.
pub async fn try_now(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let moved = state
        .central
        .providers
        .try_now(tenant, &ProviderId::new(id.as_str()), actor)
        .await;
    let flash = match moved {
        Ok(Some(0)) => Flash::good("It is tried now."),
        Ok(Some(moved)) => {
            let rows = counted(
                moved,
                "notification that waited is",
                "notifications that waited are",
            );
            Flash::good(format!("It is tried now; {rows} due."))
        }
        Ok(None) => return Err(Trouble(Problem::not_found("provider"))),
        Err(store::Error::Conflict(why)) => Flash::bad(format!("Nothing was done: {why}.")),
        Err(error) => return Err(error.into()),
    };
    Ok(flash.at(&place(&id), &state.console))
}

/// What came of holding or resuming: one that is switched off is held by that, and by nothing else.
fn told(state: &Shared, id: &str, known: store::Result<bool>, done: &str) -> Result {
    match known {
        Ok(true) => Ok(Flash::good(done).at(&place(id), &state.console)),
        Ok(false) => Err(Trouble(Problem::not_found("provider"))),
        Err(store::Error::Conflict(_)) => {
            let why = "Nothing was done: the provider is switched off, which holds it until somebody switches it on.";
            Ok(Flash::bad(why).at(&place(id), &state.console))
        }
        Err(error) => Err(error.into()),
    }
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
