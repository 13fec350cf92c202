//! CSV of any length as an answer, page by page as the client reads: memory stays flat whatever the size.
//!
//! Always true: an export that breaks off half way ends the connection, so that it never looks complete.

use crate::problem::Result;
use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::future::Future;

/// Rows read at a time.
pub const ROWS_PER_READ: u32 = 500;

/// Something that is written as CSV, a page at a time.
pub trait CsvPages: Send + Sized + 'static {
    /// Writes the next page; answers whether there is another.
    fn page(&mut self, out: &mut String) -> impl Future<Output = store::Result<bool>> + Send;
}

/// The answer: `columns` as the first line, then all pages. The first page is read before the answer starts, so that a
/// store that cannot be reached is still a 503.
pub async fn answer(file: &'static str, columns: &str, mut pages: impl CsvPages) -> Result<Response> {
    let mut first = format!("{columns}\r\n");
    let more = pages.page(&mut first).await.inspect_err(broke_off)?;
    let rest = stream::unfold((pages, more), |(mut pages, more)| async move {
        if !more {
            return None;
        }
        let mut text = String::new();
        match pages.page(&mut text).await.inspect_err(broke_off) {
            Ok(more) => Some((Ok(Bytes::from(text)), (pages, more))),
            Err(error) => Some((Err(error), (pages, false))),
        }
    });
    let body = stream::iter([Ok(Bytes::from(first))]).chain(rest);
    Ok(attached(file, Body::from_stream(body)))
}

/// A file that is written already.
pub fn whole(file: &'static str, text: String) -> Response {
    attached(file, Body::from(text))
}

fn attached(file: &'static str, body: Body) -> Response {
    let named = format!("attachment; filename=\"{file}\"");
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, named),
    ];
    (headers, body).into_response()
}

fn broke_off(error: &store::Error) {
    tracing::warn!(error = error as &dyn std::error::Error, "an export broke off");
}
