//! The entries of a list, one by one. An entry is named by its address, and by its type where an address is on the
//! list for several.

use super::{PathText, PathTexts, lists::encode};
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        list::{EntryView, read_entry},
        page::Paged,
    },
    paging,
    problem::{Code, Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::lists::ListError;
use domain::{Channel, FieldError, Recipient, TenantId};
use store::directory::List;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
    params: Params,
) -> Result<Json<Paged<EntryView>>> {
    let list = find(&state, caller.tenant, &name).await?;
    let key = |entry: &Recipient| format!("{} {}", entry.address, channel(entry));
    paging::page_whole(list.recipients, params, key, EntryView::from).map(Json)
}

pub async fn add(
    State(state): State<Shared>,
    caller: Caller,
    PathText(name): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    let entry = read_entry(fields, None).map_err(Problem::fields)?;
    edit(&state, &caller, &name, |list| {
        let mut known = list.recipients.iter();
        if known.any(|known| same(known, &entry.address, channel(&entry))) {
            let text = "the address is on the list already; PUT replaces it";
            return Err(Problem::new(Code::Conflict, text));
        }
        list.recipients.push(entry.clone());
        Ok(())
    })
    .await?;
    let place = format!(
        "/api/lists/{}/recipients/{}",
        encode(&name),
        encode(&entry.address)
    );
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, place)],
        Json(EntryView::from(entry)),
    )
        .into_response())
}

pub async fn replace(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(name, address): PathTexts,
    mut params: Params,
    JsonObject(fields): JsonObject,
) -> Result<Json<EntryView>> {
    let wanted = params.parsed("type");
    params.finish()?;
    let entry = read_entry(fields, Some(&address)).map_err(Problem::fields)?;
    edit(&state, &caller, &name, |list| {
        let at = place(list, &address, wanted)?;
        list.recipients[at] = entry.clone();
        Ok(())
    })
    .await?;
    Ok(Json(entry.into()))
}

pub async fn remove(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(name, address): PathTexts,
    mut params: Params,
) -> Result<StatusCode> {
    let wanted = params.parsed("type");
    params.finish()?;
    edit(&state, &caller, &name, |list| {
        let at = place(list, &address, wanted)?;
        list.recipients.remove(at);
        Ok(())
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn find(state: &Shared, tenant: TenantId, name: &str) -> Result<List> {
    let list = state.central.store.list_by_name(tenant, name).await?;
    list.ok_or_else(|| Problem::not_found("list"))
}

/// Where the entry stands in the list.
fn place(list: &List, address: &str, wanted: Option<Channel>) -> Result<usize> {
    let matching = |entry: &Recipient| entry.address == address && wanted.is_none_or(|c| c == channel(entry));
    let mut places = list
        .recipients
        .iter()
        .enumerate()
        .filter(|(_, entry)| matching(entry));
    match (places.next(), places.next()) {
        (Some((at, _)), None) => Ok(at),
        (Some(_), Some(_)) => Err(Problem::field(
            "type",
            "the address is on the list for several types; say which",
        )),
        (None, _) => Err(Problem::not_found("recipient")),
    }
}

fn channel(entry: &Recipient) -> Channel {
    entry.channel.unwrap_or(Channel::Email)
}

fn same(known: &Recipient, address: &str, wanted: Channel) -> bool {
    known.address == address && channel(known) == wanted
}

/// Why a change did not come about: what the list says, or what the caller got wrong.
enum Refused {
    List(ListError),
    Change(Problem),
}

impl From<ListError> for Refused {
    fn from(error: ListError) -> Self {
        Refused::List(error)
    }
}

/// Changes the list as it is now, whoever else is changing it. Problems are told in the entry's own field names.
async fn edit(
    state: &Shared,
    caller: &Caller,
    name: &str,
    change: impl Fn(&mut List) -> Result<()>,
) -> Result<()> {
    let change = |list: &mut List| change(list).map_err(Refused::Change);
    let lists = &state.central.lists;
    match lists.change(caller.tenant, name, &caller.actor, change).await {
        Ok(Some(())) => Ok(()),
        Ok(None) => Err(Problem::not_found("list")),
        Err(Refused::Change(problem)) => Err(problem),
        Err(Refused::List(ListError::Fields(problems))) => Err(Problem::fields(
            problems
                .into_iter()
                .map(|p| FieldError::new(p.field.rsplit('.').next().unwrap_or_default(), p.problem.clone()))
                .collect(),
        )),
        Err(Refused::List(error)) => Err(error.into()),
    }
}
