//! Who must not be written to: found, put on, taken off.

use super::{
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
};
use crate::{
    api::{PathText, lists::encode},
    csv::Line,
    csv_stream::{self, CsvPages, ROWS_PER_READ},
    paging::{self, print_cursor},
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::suppressions::SuppressionError;
use domain::{
    Channel, FieldError, TenantId,
    suppression::{NewSuppression, Suppression, SuppressionSource},
};
use store::{
    query::{Cursor, Page as PageRequest},
    suppressions::SuppressionFilter,
};

#[derive(Template)]
#[template(path = "suppressions/page.html")]
struct Page {
    frame: Frame,
    rows: Vec<Suppression>,
    /// The address that was looked for.
    sought: String,
    older: Option<String>,
    bad: Vec<FieldError>,
    typed: NewSuppression,
}
framed!(Page);

impl Page {
    /// The filter in force, with the address of the list without it.
    fn chips(&self) -> Vec<(String, String)> {
        let sought = Some(&self.sought).filter(|address| !address.is_empty());
        let chip = |address| (format!("Address: {address}"), "/suppressions".to_owned());
        sought.map(chip).into_iter().collect()
    }
}

const ROWS: u32 = 100;

fn nobody() -> NewSuppression {
    NewSuppression {
        address: String::new(),
        channel: None,
        topic: None,
        reason: String::new(),
        source: SuppressionSource::Operator,
    }
}

async fn show(state: &Shared, signed: &Signed, mut params: Params) -> Result<Page> {
    let address = params.text("address");
    let page = PageRequest {
        limit: ROWS,
        after: paging::cursor(&mut params),
    };
    let filter = SuppressionFilter {
        address: address.clone(),
        channel: None,
    };
    let found = state
        .central
        .store
        .suppressions(signed.caller.tenant, &filter, page)
        .await?;
    let sought = address.unwrap_or_default();
    let older = found.next.map(|next| {
        let cursor = print_cursor(next);
        format!("/suppressions?address={}&cursor={cursor}", encode(&sought))
    });
    Ok(Page {
        frame: Frame::new(state, signed, "Suppressions", Nav::Suppressions).await?,
        rows: found.rows,
        sought,
        older,
        bad: vec![],
        typed: nobody(),
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed, params: Params) -> Result {
    Ok(show(&state, &signed, params).await?.show(&state))
}

/// Everything that matches, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let filter = SuppressionFilter {
        address: params.text("address"),
        channel: None,
    };
    params.finish()?;
    let entries = Entries {
        tenant: signed.caller.tenant,
        state,
        filter,
        after: None,
    };
    Ok(csv_stream::answer("suppressions.csv", COLUMNS, entries).await?)
}

const COLUMNS: &str = "address,type,topic,source,reason,createdAt,createdBy";

struct Entries {
    state: Shared,
    tenant: TenantId,
    filter: SuppressionFilter,
    after: Option<Cursor>,
}

impl CsvPages for Entries {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let page = PageRequest {
            limit: ROWS_PER_READ,
            after: self.after,
        };
        let store = &self.state.central.store;
        let found = store.suppressions(self.tenant, &self.filter, page).await?;
        let mut line = Line::default();
        for row in &found.rows {
            line.text(&row.entry.address)
                .plain_or_empty(row.entry.channel)
                .text_or_empty(row.entry.topic.as_deref())
                .plain(row.entry.source)
                .text(&row.entry.reason)
                .plain(row.created_at)
                .text(row.created_by.as_str());
            line.end(out);
        }
        self.after = found.next;
        Ok(found.next.is_some())
    }
}

pub async fn add(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let typed = NewSuppression {
        address: form.text("address").unwrap_or_default(),
        channel: form.get("channel").and_then(|text| text.parse().ok()),
        topic: form.text("topic"),
        reason: form.text("reason").unwrap_or_default(),
        ..nobody()
    };
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let bad = match state.central.suppressions.add(tenant, &typed, actor).await {
        Ok(_) => {
            let said = Flash::good(format!("{} is not written to any more.", typed.address));
            return Ok(said.at("/suppressions", &state.console));
        }
        Err(SuppressionError::Fields(bad)) => bad,
        Err(SuppressionError::Store(error)) => return Err(error.into()),
    };
    let page = Page {
        bad,
        typed,
        ..show(&state, &signed, Params::default()).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

pub async fn remove(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let gone = match id.parse() {
        Ok(id) => state.central.suppressions.remove(tenant, id, actor).await?,
        Err(_) => false,
    };
    let flash = match gone {
        true => Flash::good("The address is written to again."),
        false => Flash::bad("There is no such entry any more."),
    };
    Ok(flash.at("/suppressions", &state.console))
}
