//! Notifications as CSV.

use crate::{
    csv::Line,
    csv_stream::{self, CsvPages, ROWS_PER_READ},
    dto::notification::next_attempt_at,
    problem::Result,
    query::Params,
    state::Shared,
};
use axum::response::Response;
use central::{search, waiting};
use domain::{Target, TenantId, Waiting};
use store::query::{Cursor, Filter, Notification, Page};

const COLUMNS: &str = "notificationId,status,type,listName,to,provider,subject,retryCount,errorCode,lastError,\
                       sourceSiteId,entityType,entityId,receipt,createdAt,lastAttemptAt,nextAttemptAt,deliveredAt,\
                       providerCode,waiting,waitingDetail";

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
}

/// Everything that matches, newest first.
pub async fn csv(
    state: Shared,
    tenant: TenantId,
    filter: Filter,
    after: Option<Cursor>,
    most: Option<u64>,
) -> Result<Response> {
    let now = state.central.clock.now();
    let filter = search::resolve(&*state.central.store, tenant, filter, now).await?;
    let export = Export {
        state,
        tenant,
        filter,
        after,
        left: most.unwrap_or(u64::MAX),
    };
    csv_stream::answer("notifications.csv", COLUMNS, export).await
}

impl CsvPages for Export {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let limit = u32::try_from(self.left)
            .unwrap_or(ROWS_PER_READ)
            .min(ROWS_PER_READ);
        let page = Page {
            limit,
            after: self.after,
        };
        let store = &*self.state.central.store;
        let found = store.list(self.tenant, &self.filter, page).await?;
        let mut line = Line::default();
        let now = self.state.central.clock.now();
        for row in &found.rows {
            let waiting = waiting::of(&self.state.central.directory, row, now).await?;
            write_row(&mut line, row, waiting.as_ref());
            line.end(out);
        }
        self.left = self.left.saturating_sub(found.rows.len() as u64);
        self.after = found.next;
        Ok(found.next.is_some() && self.left > 0)
    }
}

fn write_row(line: &mut Line, row: &Notification, waiting: Option<&Waiting>) {
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
        .plain_or_empty(next_attempt_at(row, waiting))
        .plain_or_empty(row.delivered_at)
        .text_or_empty(row.last_provider_code.as_deref())
        .plain_or_empty(waiting.map(|waiting| waiting.reason))
        .text_or_empty(waiting.and_then(|waiting| waiting.detail.as_deref()));
}
