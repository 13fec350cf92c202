//! Lists that are read whole, as files: a list says once what its file is called, which columns it has and which rows,
//! and gets its *As CSV* with a line in [`mod@super::routes`]. Lists without an end are streamed
//! ([`crate::csv_stream`]).
//!
//! Always true: what a page lists is in its file, in the same order, for whoever may see the page. A page that shows only
//! the heads of what it lists (how many are on a list) has the whole of it in the file.

use super::{failure::Result, guard::Signed};
use crate::{
    csv::{Cell, Line},
    csv_stream,
    query::Params,
    state::Shared,
};
use axum::extract::State;
use std::future::Future;

/// The name of a column, as the API calls it, and what stands in it.
pub type Column<T> = (&'static str, fn(&T) -> Cell);

/// A list that can be taken away.
pub trait Download {
    type Row: Send + 'static;
    /// What the address of the page asks for; `()` where there is nothing to ask for.
    type Filter: Default + Send;
    const FILE: &'static str;
    const COLUMNS: &'static [Column<Self::Row>];

    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    fn filter(_: &mut Params) -> Self::Filter {
        Self::Filter::default()
    }

    /// What the page shows.
    fn rows(
        state: &Shared,
        signed: &Signed,
        filter: &Self::Filter,
    ) -> impl Future<Output = Result<Vec<Self::Row>>> + Send;
}

/// The list as a file.
pub async fn csv<D: Download>(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let filter = D::filter(&mut params);
    params.finish()?;
    let rows = D::rows(&state, &signed, &filter).await?;
    Ok(csv_stream::whole(D::FILE, text(D::COLUMNS, &rows)))
}

fn text<T>(columns: &[Column<T>], rows: &[T]) -> String {
    let mut text = String::new();
    let mut line = Line::default();
    columns.iter().for_each(|(name, _)| {
        line.plain(name);
    });
    line.end(&mut text);
    for row in rows {
        columns.iter().for_each(|(_, cell)| {
            line.cell(&cell(row));
        });
        line.end(&mut text);
    }
    text
}
