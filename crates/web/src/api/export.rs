//! Notifications as CSV, page by page as the client reads: memory stays flat whatever the size.
//!
//! Always true: an export that breaks off half way ends the connection, so that it never looks complete.

use crate::{csv::Line, problem::Result, query::Params, search, state::Shared};
use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{Target, TenantId};
use futures_util::{StreamExt, stream};
use store::query::{Cursor, Filter, Notification, Page};

/// Rows read at a time.
const ROWS_PER_READ: u32 = 500;

const COLUMNS: &str = "notificationId,status,type,listName,to,provider,subject,retryCount,errorCode,lastError,\
                       sourceSiteId,entityType,entityId,receipt,createdAt,lastAttemptAt,nextAttemptAt,deliveredAt,\
                       providerCode\r\n";

/// The most rows in all; `limit` of an export has no ceiling.
pub fn most(params: &mut Params) -> Option<u64> {
    let most = params.parsed::<u64>("limit");
    if most == Some(0) {
        params.problem("limit", "must be at least 1");
    }
    most
}

struct Export {
    state: Shared,
    tenant: TenantId,
    filter: Filter,
    after: Option<Cursor>,
    left: u64,
    done: bool,
}

/// Streams everything that matches. The first page is read before the answer starts, so that a store that cannot
/// be reached is still a 503.
pub async fn csv(
    state: Shared,
    tenant: TenantId,
    filter: Filter,
    after: Option<Cursor>,
    most: Option<u64>,
) -> Result<Response> {
    let mut export = Export {
        state,
        tenant,
        filter,
        after,
        left: most.unwrap_or(u64::MAX),
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
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"notifications.csv\"",
        ),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

impl Export {
    async fn page(&mut self, out: &mut String) -> store::Result<()> {
        let limit = u32::try_from(self.left)
            .unwrap_or(ROWS_PER_READ)
            .min(ROWS_PER_READ);
        let page = Page {
            limit,
            after: self.after,
        };
        let store = &*self.state.central.store;
        let found = search::list(store, self.tenant, &self.filter, page)
            .await
            .inspect_err(|error| {
                tracing::warn!(error = error as &dyn std::error::Error, "an export broke off");
            })?;
        let mut line = Line::default();
        for row in &found.rows {
            write_row(&mut line, row);
            line.end(out);
        }
        self.left = self.left.saturating_sub(found.rows.len() as u64);
        self.after = found.next;
        self.done = found.next.is_none() || self.left == 0;
        Ok(())
    }
}

fn write_row(line: &mut Line, row: &Notification) {
    let (s, content) = (&row.submission, &row.submission.content);
    let (list, to) = match &content.target {
        Target::List(name) => (name.as_str(), String::new()),
        Target::Recipients(to) => ("", to.join("; ")),
        Target::Provider => ("", String::new()),
    };
    line.plain(s.id)
        .plain(row.status)
        .plain(content.channel())
        .text(list)
        .text(&to)
        .text_or_empty(row.provider.as_deref())
        .text(&content.subject)
        .plain(row.retry_count)
        .text_or_empty(row.last_code.as_deref())
        .text_or_empty(row.last_error.as_deref())
        .text_or_empty(s.provenance.site.as_deref())
        .text_or_empty(content.entity_type.as_deref())
        .text_or_empty(content.entity_id.as_deref())
        .text_or_empty(row.receipt.as_deref())
        .plain(row.created_at)
        .plain_or_empty(row.last_attempt_at)
        .plain_or_empty(row.next_attempt_at)
        .plain_or_empty(row.delivered_at)
        .text_or_empty(row.last_provider_code.as_deref());
}
