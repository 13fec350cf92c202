//! The audit log as CSV, page by page as the client reads.
//!
//! Always true: an export that breaks off half way ends the connection, so that it never looks complete.

use crate::{csv::Line, problem::Result, state::Shared};
use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::TenantId;
use futures_util::{StreamExt, stream};
use store::query::{AuditFilter, AuditRow, Cursor, Page};

/// Rows read at a time.
const ROWS_PER_READ: u32 = 500;

const COLUMNS: &str =
    "at,kind,status,actor,notificationId,target,siteId,executionId,durationMs,code,detail\r\n";

struct Export {
    state: Shared,
    tenant: TenantId,
    filter: AuditFilter,
    after: Option<Cursor>,
    done: bool,
}

/// Streams everything that matches, newest first. The first page is read before the answer starts, so that a store that
/// cannot be reached is still a 503.
pub async fn csv(state: Shared, tenant: TenantId, filter: AuditFilter) -> Result<Response> {
    let mut export = Export {
        state,
        tenant,
        filter,
        after: None,
        done: false,
    };
    let mut first = COLUMNS.to_owned();
    export.page(&mut first).await?;
    let rest = stream::unfold(export, |mut export| async move {
        if export.done {
            return None;
        }
        let mut text = String::new();
        let page = export.page(&mut text).await.map(|()| Bytes::from(text));
        export.done |= page.is_err();
        Some((page, export))
    });
    let body = stream::iter([Ok(Bytes::from(first))]).chain(rest);
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"audit.csv\""),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

impl Export {
    async fn page(&mut self, out: &mut String) -> store::Result<()> {
        let page = Page {
            limit: ROWS_PER_READ,
            after: self.after,
        };
        let store = &self.state.central.store;
        let found = store
            .audit(self.tenant, &self.filter, page)
            .await
            .inspect_err(|error| {
                tracing::warn!(error = error as &dyn std::error::Error, "an export broke off");
            })?;
        let mut line = Line::default();
        for row in &found.rows {
            write_row(&mut line, row);
            line.end(out);
        }
        self.after = found.next;
        self.done = found.next.is_none();
        Ok(())
    }
}

fn write_row(line: &mut Line, row: &AuditRow) {
    line.plain(row.at)
        .plain(row.kind)
        .plain(row.status)
        .text(&row.actor)
        .plain_or_empty(row.notification)
        .text_or_empty(row.target.as_deref())
        .text_or_empty(row.site.as_deref())
        .text_or_empty(row.execution.as_deref())
        .plain_or_empty(row.duration_ms)
        .text_or_empty(row.code.as_deref())
        .text_or_empty(row.detail.as_deref());
}
