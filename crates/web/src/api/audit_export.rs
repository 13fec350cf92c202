//! The audit log as CSV.

use crate::{
    csv::Line,
    csv_stream::{self, CsvPages, ROWS_PER_READ},
    problem::Result,
    state::Shared,
};
use axum::response::Response;
use domain::TenantId;
use store::query::{AuditFilter, AuditRow, Cursor, Page};

const COLUMNS: &str =
    "at,kind,status,actor,notificationId,target,siteId,executionId,durationMs,code,detail,subject";

struct Export {
    state: Shared,
    tenant: TenantId,
    filter: AuditFilter,
    after: Option<Cursor>,
}

/// Everything that matches, newest first.
pub async fn csv(state: Shared, tenant: TenantId, filter: AuditFilter) -> Result<Response> {
    let export = Export {
        state,
        tenant,
        filter,
        after: None,
    };
    csv_stream::answer("audit.csv", COLUMNS, export).await
}

impl CsvPages for Export {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let page = Page {
            limit: ROWS_PER_READ,
            after: self.after,
        };
        let store = &self.state.central.store;
        let found = store.audit(self.tenant, &self.filter, page).await?;
        let mut line = Line::default();
        for row in &found.rows {
            write_row(&mut line, row);
            line.end(out);
        }
        self.after = found.next;
        Ok(found.next.is_some())
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
        .text_or_empty(row.detail.as_deref())
        .text_or_empty(row.subject.as_deref());
}
