//! All templates of a tenant.

use super::audience;
use crate::{
    console::{
        download::{Column, Download},
        failure::Result,
        filter::Query,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::Badge,
    },
    csv::Cell,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::Channel;
use store::templates::{TemplateFilter, TemplateRow};

#[derive(Template)]
#[template(path = "templates/list.html")]
struct Page {
    frame: Frame,
    rows: Vec<TemplateRow>,
    asked: TemplateFilter,
    /// The list as a file, as it is filtered.
    csv: String,
}
framed!(Page);

impl Page {
    fn asks(&self) -> bool {
        self.asked != TemplateFilter::default()
    }
}

/// Templates without what they say.
pub struct Templates;

impl Download for Templates {
    type Row = TemplateRow;
    type Filter = TemplateFilter;
    const FILE: &'static str = "templates.csv";
    const COLUMNS: &'static [Column<TemplateRow>] = &[
        ("id", |row| Cell::plain(row.id)),
        ("eventType", |row| Cell::text(&row.identity.event_type)),
        ("channel", |row| Cell::plain(row.identity.channel)),
        ("name", |row| Cell::text(&row.identity.name)),
        ("language", |row| {
            Cell::text_or_empty(row.identity.language.as_ref())
        }),
        ("scopeType", |row| {
            Cell::text_or_empty(row.identity.scope.as_ref().map(|scope| &scope.scope_type))
        }),
        ("scopeId", |row| {
            Cell::text_or_empty(row.identity.scope.as_ref().map(|scope| &scope.scope_id))
        }),
        ("active", |row| Cell::plain(row.active)),
        ("version", |row| Cell::plain(row.version)),
        ("savedAt", |row| Cell::plain(row.saved_at)),
        ("savedBy", |row| Cell::text(&row.saved_by)),
        ("deletedAt", |row| Cell::plain_or_empty(row.deleted_at)),
    ];

    fn filter(params: &mut Params) -> TemplateFilter {
        TemplateFilter {
            event_type: params.text("eventType"),
            channel: params.parsed("channel"),
            active: None,
            deleted: params.boolean("deleted").unwrap_or(false),
        }
    }

    async fn rows(state: &Shared, signed: &Signed, filter: &TemplateFilter) -> Result<Vec<TemplateRow>> {
        let tenant = signed.caller.tenant;
        Ok(state.central.store.templates(tenant, filter).await?)
    }
}

/// Where the file is that holds what the filter lets through.
fn csv_place(asked: &TemplateFilter) -> String {
    let mut query = Query::default();
    query.add("eventType", asked.event_type.as_deref());
    query.add("channel", asked.channel.map(Channel::as_str));
    query.add("deleted", asked.deleted.then_some("true"));
    match query.0.is_empty() {
        true => "/templates.csv".into(),
        false => format!("/templates.csv?{}", query.0),
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = Templates::filter(&mut params);
    params.finish()?;
    let page = Page {
        rows: Templates::rows(&state, &signed, &asked).await?,
        csv: csv_place(&asked),
        frame: Frame::new(&state, &signed, "Templates", Nav::Templates).await?,
        asked,
    };
    Ok(page.show(&state))
}
