//! One list: who is on it.

use super::{
    failure::{Result, Trouble},
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{Badge, number},
    undo::Taker,
};
use crate::{
    api::{PathText, lists::encode},
    csv::Line,
    csv_stream,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::lists::ListError;
use domain::{Channel, FieldError, Recipient, TextFilters, Usage, lock::lock};
use store::directory::List;

#[derive(Template)]
#[template(path = "recipients/page.html")]
struct Page {
    frame: Frame,
    list: List,
    bad: Vec<FieldError>,
    /// What was typed.
    typed: Recipient,
    /// Who was just taken off, and can be put back.
    removed: Option<Recipient>,
    /// What hangs on the list.
    usage: Usage,
}
framed!(Page);

async fn usage(state: &Shared, signed: &Signed, list: &str) -> store::Result<Usage> {
    let by = TextFilters {
        list: Some(list.to_owned()),
        ..TextFilters::default()
    };
    state.central.usage_of(signed.caller.tenant, by).await
}

fn nobody() -> Recipient {
    Recipient {
        name: None,
        address: String::new(),
        channel: None,
        enabled: true,
    }
}

async fn find(state: &Shared, signed: &Signed, name: &str) -> Result<List> {
    let list = state
        .central
        .store
        .list_by_name(signed.caller.tenant, name)
        .await?;
    list.ok_or_else(|| Trouble(Problem::not_found("list")))
}

fn place(name: &str) -> String {
    format!("/lists/{}", encode(name))
}

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathText(name): PathText,
    mut params: Params,
) -> Result {
    let removed = params.text("removed");
    params.finish()?;
    let (now, sealer) = (state.central.clock.now(), state.central.directory.sealer());
    let removed =
        removed.and_then(|sealed| Taker::new(&signed, &place(&name)).open::<Recipient>(sealer, &sealed, now));
    let list = find(&state, &signed, &name).await?;
    // Gone again, or never there: nothing to put back.
    let still_there = |gone: &Recipient| {
        let same = |entry: &Recipient| entry.address == gone.address && channel(entry) == channel(gone);
        list.recipients.iter().any(same)
    };
    let page = Page {
        removed: removed.filter(|gone| !still_there(gone)),
        usage: usage(&state, &signed, &name).await?,
        frame: Frame::new(&state, &signed, name, Nav::Lists).await?,
        list,
        bad: vec![],
        typed: nobody(),
    };
    Ok(page.show(&state))
}

/// Everybody on it, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, PathText(name): PathText) -> Result {
    let list = find(&state, &signed, &name).await?;
    let columns = "address,name,type,enabled";
    let mut text = format!("{columns}\r\n");
    let mut line = Line::default();
    for one in &list.recipients {
        line.text(&one.address)
            .text_or_empty(one.name.as_deref())
            .plain(channel(one))
            .plain(one.enabled);
        line.end(&mut text);
    }
    Ok(csv_stream::whole("recipients.csv", text))
}

pub fn channel(entry: &Recipient) -> Channel {
    entry.channel.unwrap_or(Channel::Email)
}

pub async fn add(
    State(state): State<Shared>,
    signed: Signed,
    PathText(name): PathText,
    form: Form,
) -> Result {
    let typed = Recipient {
        name: form.text("name"),
        address: form.text("address").unwrap_or_default(),
        channel: form.get("type").and_then(|text| text.parse().ok()),
        // Who was switched off when taken off comes back switched off.
        enabled: form.get("off").is_none(),
    };
    let known = |entry: &Recipient| entry.address == typed.address && channel(entry) == channel(&typed);
    let added = edit(&state, &signed, &name, |list| {
        if list.recipients.iter().any(known) {
            let bad = FieldError::new("address", "is on the list already");
            return Err(ListError::Fields(vec![bad]));
        }
        list.recipients.push(typed.clone());
        Ok(())
    })
    .await?;
    let bad = match added {
        Ok(()) => {
            let said = Flash::good(format!("{} is on the list.", typed.address));
            return Ok(said.at(&place(&name), &state.console));
        }
        Err(bad) => bad,
    };
    let page = Page {
        removed: None,
        usage: usage(&state, &signed, &name).await?,
        list: find(&state, &signed, &name).await?,
        frame: Frame::new(&state, &signed, name, Nav::Lists).await?,
        bad,
        typed,
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

/// Takes an entry off, or switches it on or off.
pub async fn change(
    State(state): State<Shared>,
    signed: Signed,
    PathText(name): PathText,
    form: Form,
) -> Result {
    let address = form.get("address").unwrap_or_default().to_owned();
    let wanted = form.get("type").and_then(|text| text.parse::<Channel>().ok());
    let action = form.get("action").unwrap_or_default();
    let said = match action {
        "remove" => format!("{address} is off the list."),
        "enable" => format!("{address} gets messages again."),
        "disable" => format!("{address} gets no messages until you switch it on again."),
        _ => {
            return Err(Trouble(Problem::field(
                "action",
                "must be remove, enable or disable",
            )));
        }
    };
    let meant =
        |entry: &Recipient| entry.address == address && wanted.is_none_or(|wanted| wanted == channel(entry));
    // As it was on the list, not as an old page showed it: this is what can be put back.
    let removed = std::sync::Mutex::new(None);
    let changed = edit(&state, &signed, &name, |list| {
        let Some(at) = list.recipients.iter().position(meant) else {
            let gone = FieldError::new("", "That address is not on the list any more.");
            return Err(ListError::Fields(vec![gone]));
        };
        match action {
            "remove" => {
                let entry = list.recipients.remove(at);
                *lock(&removed) = Some(entry);
            }
            action => list.recipients[at].enabled = action == "enable",
        }
        Ok(())
    })
    .await?;
    let (flash, undo) = match changed {
        Ok(()) => {
            let undo = lock(&removed).take();
            let undo = undo.and_then(|entry| way_back(&state, &signed, &name, &entry));
            (Flash::good(said), undo.unwrap_or_default())
        }
        Err(bad) => (Flash::bad(super::notification::in_words(&bad)), String::new()),
    };
    Ok(flash.at(&format!("{}{undo}", place(&name)), &state.console))
}

/// The end of an address whose page offers to put somebody back as they were.
fn way_back(state: &Shared, signed: &Signed, list: &str, gone: &Recipient) -> Option<String> {
    let (now, sealer) = (state.central.clock.now(), state.central.directory.sealer());
    let sealed = Taker::new(signed, &place(list)).seal(sealer, gone, now)?;
    Some(format!("?removed={}", encode(&sealed)))
}

pub async fn delete(State(state): State<Shared>, signed: Signed, PathText(name): PathText) -> Result {
    let gone = state
        .central
        .lists
        .delete(signed.caller.tenant, &name, &signed.caller.actor)
        .await?;
    let flash = match gone {
        true => Flash::good(format!("The list {name} is removed.")),
        false => Flash::bad("There is no such list any more."),
    };
    Ok(flash.at("/lists", &state.console))
}

/// Changes the list; what is wrong with an entry is told in the form's words.
async fn edit(
    state: &Shared,
    signed: &Signed,
    name: &str,
    change: impl Fn(&mut List) -> std::result::Result<(), ListError>,
) -> Result<std::result::Result<(), Vec<FieldError>>> {
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    match state.central.lists.change(tenant, name, actor, change).await {
        Ok(Some(())) => Ok(Ok(())),
        Ok(None) => Err(Trouble(Problem::not_found("list"))),
        Err(ListError::Fields(bad)) => Ok(Err(bad
            .into_iter()
            .map(|p| FieldError::new(p.field.rsplit('.').next().unwrap_or_default(), p.problem))
            .collect())),
        Err(ListError::Store(error)) => Err(error.into()),
    }
}
