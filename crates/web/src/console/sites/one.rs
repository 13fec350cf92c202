//! One site: its agent, what is parked in its buffer and what waits there, its calls, its events, and what it sent.
//!
//! What is parked and what waits is asked of the site itself while the page is made; the rest is what the site told before.

use super::{
    known::{Known, known_sites},
    waiting::{Waiting, waiting},
};
use crate::{
    api::{PathText, lists::encode},
    console::{
        failure::Result,
        flash::Flash,
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{age, bytes, counted, exact, number, operation_badge},
    },
    paging,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::sites::{
    Offline, PairReport, ParkedActed, ParkedAction, ParkedAnswer, ParkedPage, RelayError, SiteView,
};
use domain::{SiteId, TenantId};
use store::{
    query::{Cursor, Page as Rows},
    sites::{CallFilter, CallPage, SiteCall},
};

/// How many parked messages, and how many calls, are on the page.
const ROWS_SHOWN: u32 = 50;

#[derive(Template)]
#[template(path = "sites/one.html")]
struct Page {
    frame: Frame,
    site: Known,
    parked: Parked,
    waiting: Waiting,
    /// Where either list goes on.
    shown: Shown,
    calls: Vec<SiteCall>,
    /// Where the calls before these are.
    older: Option<String>,
}
framed!(Page);

/// Behind which parked and which waiting message the page begins: whoever goes on in one list stays where they are in the other.
struct Shown {
    parked: Option<String>,
    waiting: Option<String>,
}

impl Shown {
    fn more_parked(&self, next: &str) -> String {
        query(Some(next), self.waiting.as_deref())
    }

    fn more_waiting(&self, next: &str) -> String {
        query(self.parked.as_deref(), Some(next))
    }
}

fn query(parked: Option<&str>, waiting: Option<&str>) -> String {
    let places = [("after", parked), ("waitingAfter", waiting)];
    let said = places
        .into_iter()
        .filter_map(|(name, place)| Some(format!("{name}={}", encode(place?))));
    said.collect::<Vec<_>>().join("&")
}

/// The site's two machines, where it has two.
fn pair_of(agent: &SiteView) -> Option<&PairReport> {
    agent.report.as_ref()?.pair.as_ref()
}

/// How much its copy lacks, and since when.
fn lag(pair: &PairReport) -> Option<String> {
    let behind = counted(pair.behind?, "change behind", "changes behind");
    match (pair.behind, pair.behind_ms) {
        (Some(0), _) | (_, None) => Some(behind),
        (_, Some(ms)) => Some(format!("{behind} for {}", age(&(ms / 1000)))),
    }
}

/// What the site says is parked, or why it says nothing.
enum Parked {
    Told(ParkedAnswer),
    NotTold(String),
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
    let (after, cursor) = (params.text("after"), paging::cursor(&mut params));
    let waiting_after = params.text("waitingAfter");
    params.finish()?;
    let shown = Shown {
        parked: after.clone(),
        waiting: waiting_after.clone(),
    };
    let calls = calls(&state, tenant, &id, cursor).await?;
    // Both at once: a site that does not answer is waited for once.
    let (parked, waiting) = tokio::try_join!(
        parked(&state, tenant, &id, after),
        waiting(&state, tenant, &id, waiting_after)
    )?;
    let page = Page {
        frame: Frame::new(&state, &signed, id.clone(), Nav::Sites).await?.live(),
        parked,
        waiting,
        shown,
        calls: calls.rows,
        older: calls.next.map(paging::print_cursor),
        site,
    };
    Ok(page.show(&state))
}

async fn parked(state: &Shared, tenant: TenantId, id: &str, after: Option<String>) -> Result<Parked> {
    let Ok(site) = SiteId::parse(id) else {
        return Ok(Parked::NotTold(in_words(&RelayError::UnknownSite)));
    };
    let page = ParkedPage {
        limit: ROWS_SHOWN,
        after,
        ..ParkedPage::default()
    };
    match state.central.sites.parked(tenant, &site, page).await {
        Ok(answer) => Ok(Parked::Told(answer)),
        Err(RelayError::Store(error)) => Err(error.into()),
        Err(error) => Ok(Parked::NotTold(in_words(&error))),
    }
}

async fn calls(state: &Shared, tenant: TenantId, id: &str, after: Option<Cursor>) -> Result<CallPage> {
    let filter = CallFilter {
        site: Some(SiteId::new(id)),
        ..CallFilter::default()
    };
    let page = Rows {
        limit: ROWS_SHOWN,
        after,
    };
    Ok(state.central.store.site_calls(tenant, &filter, page).await?)
}

pub async fn retry(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    act(&state, &signed, &id, &form, ParkedAction::Retry).await
}

pub async fn discard(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    act(&state, &signed, &id, &form, ParkedAction::Discard).await
}

async fn act(state: &Shared, signed: &Signed, id: &str, form: &Form, action: ParkedAction) -> Result {
    let site = SiteId::parse(id).map_err(|_| Problem::not_found("site"))?;
    let place = format!("/sites/{}", encode(id));
    let (mut done, mut late) = (0, 0);
    for message in form.all("id") {
        let acted = state
            .central
            .sites
            .act_on_parked(signed.caller.tenant, &site, message, action, &signed.caller.actor)
            .await;
        match acted {
            Ok(ParkedActed::Done) => done += 1,
            Ok(ParkedActed::NotFound | ParkedActed::WrongState) => late += 1,
            Err(RelayError::Store(error)) => return Err(error.into()),
            Err(error) => {
                let before = match done {
                    0 if matches!(error, RelayError::NoAnswer(_)) => {
                        "It is not known whether it was done.".to_owned()
                    }
                    0 => "Nothing was changed.".to_owned(),
                    _ if matches!(error, RelayError::NoAnswer(_)) => format!(
                        "{} before that; of one message it is not known.",
                        counted(done, "was done", "were done")
                    ),
                    _ => format!("{} before that.", counted(done, "was done", "were done")),
                };
                let words = format!("{} {before}", in_words(&error));
                return Ok(Flash::bad(words).at(&place, &state.console));
            }
        }
    }
    if done + late == 0 {
        return Ok(Flash::bad("Choose some messages first: tick their boxes.").at(&place, &state.console));
    }
    let verb = match action {
        ParkedAction::Retry => "sent round again",
        ParkedAction::Discard => "discarded",
    };
    let mut text = format!("The site has {verb} {}.", counted(done, "message", "messages"));
    if late > 0 {
        text.push_str(&format!(" {} not parked any more.", counted(late, "was", "were")));
    }
    let flash = if done > 0 {
        Flash::good(text)
    } else {
        Flash::bad(text)
    };
    Ok(flash.at(&place, &state.console))
}

/// Why a site could not be asked.
pub(super) fn in_words(error: &RelayError) -> String {
    match error {
        RelayError::UnknownSite => "This site has no agent, so it cannot be asked.".into(),
        RelayError::Offline(Offline {
            since: Some(since),
            why,
            ..
        }) => format!(
            "The site is offline since {} ({why}), so it cannot be asked.",
            exact(*since)
        ),
        RelayError::Offline(Offline { since: None, .. }) => {
            "The site's agent has never connected, so it cannot be asked.".into()
        }
        RelayError::NoAnswer(why) => format!("The site did not answer ({why}). Try again in a moment."),
        RelayError::Failed(why) => format!("The site could not do it: {why}."),
        RelayError::Store(_) => "The database does not answer just now.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_on_in_one_list_leaves_the_other_where_it_is() {
        let shown = Shown {
            parked: Some("7".into()),
            waiting: Some("9".into()),
        };
        assert_eq!(shown.more_parked("57"), "after=57&waitingAfter=9");
        assert_eq!(shown.more_waiting("59"), "after=7&waitingAfter=59");
        let first = Shown {
            parked: None,
            waiting: None,
        };
        assert_eq!(first.more_waiting("59"), "waitingAfter=59");
    }
}
