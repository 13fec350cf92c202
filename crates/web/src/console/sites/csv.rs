//! The two lists of a site as files: its calls as central knows them, and what is parked there, asked of the site itself.

use super::{known::known_sites, one::in_words};
use crate::{
    api::{PathText, lists::encode},
    console::{failure::Result, flash::Flash, guard::Signed},
    csv::Line,
    csv_stream::{self, CsvPages, ROWS_PER_READ},
    problem::Problem,
    state::Shared,
};
use axum::extract::State;
use central::sites::{ParkedAnswer, ParkedPage, RelayError};
use domain::{SiteId, TenantId};
use store::{
    query::{Cursor, Page as Rows},
    sites::CallFilter,
};

const CALL_COLUMNS: &str = "trackedOperationId,category,target,summary,status,httpStatus,retryCount,lastError,createdAt,updatedAt,sourceInstanceId,sourceScript,actor";
const PARKED_COLUMNS: &str = "messageId,category,target,summary,retryCount,maxRetries,lastError,createdAt,lastAttemptAt,parkedAt,instance,script";

/// All calls and writes that the site has told of.
pub async fn calls(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let site = SiteId::parse(&id).map_err(|_| Problem::not_found("site"))?;
    let known = known_sites(&state, signed.caller.tenant).await?;
    if !known.iter().any(|known| known.id == id) {
        return Err(Problem::not_found("site").into());
    }
    let calls = Calls {
        tenant: signed.caller.tenant,
        filter: CallFilter {
            site: Some(site),
            ..CallFilter::default()
        },
        state,
        after: None,
    };
    Ok(csv_stream::answer("site-calls.csv", CALL_COLUMNS, calls).await?)
}

struct Calls {
    state: Shared,
    tenant: TenantId,
    filter: CallFilter,
    after: Option<Cursor>,
}

impl CsvPages for Calls {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let page = Rows {
            limit: ROWS_PER_READ,
            after: self.after,
        };
        let store = &self.state.central.store;
        let found = store.site_calls(self.tenant, &self.filter, page).await?;
        let mut line = Line::default();
        for row in &found.rows {
            line.plain(row.operation)
                .plain(row.category)
                .text(&row.target)
                .text_or_empty(row.summary.as_deref())
                .plain(row.status)
                .plain_or_empty(row.http_status)
                .plain(row.retry_count)
                .text_or_empty(row.error.as_deref())
                .plain(row.created_at)
                .plain(row.updated_at)
                .text_or_empty(row.instance.as_deref())
                .text_or_empty(row.script.as_deref())
                .text_or_empty(row.actor.as_deref());
            line.end(out);
        }
        self.after = found.next;
        Ok(found.next.is_some())
    }
}

/// All that is parked at the site. A site that cannot be asked is said on its page.
pub async fn parked(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let site = SiteId::parse(&id).map_err(|_| Problem::not_found("site"))?;
    let tenant = signed.caller.tenant;
    let first = match ask(&state, tenant, &site, None).await {
        Ok(first) => first,
        Err(RelayError::Store(error)) => return Err(error.into()),
        Err(RelayError::UnknownSite) => return Err(Problem::not_found("site").into()),
        Err(error) => {
            let place = format!("/sites/{}", encode(&id));
            return Ok(Flash::bad(in_words(&error)).at(&place, &state.console));
        }
    };
    let parked = Parked {
        state,
        tenant,
        site,
        next: Some(first),
    };
    Ok(csv_stream::answer("site-parked.csv", PARKED_COLUMNS, parked).await?)
}

async fn ask(
    state: &Shared,
    tenant: TenantId,
    site: &SiteId,
    after: Option<String>,
) -> Result<ParkedAnswer, RelayError> {
    let page = ParkedPage {
        limit: ROWS_PER_READ,
        after,
        ..ParkedPage::default()
    };
    state.central.sites.parked(tenant, site, page).await
}

struct Parked {
    state: Shared,
    tenant: TenantId,
    site: SiteId,
    /// What was read and is not written yet.
    next: Option<ParkedAnswer>,
}

impl CsvPages for Parked {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let Some(answer) = self.next.take() else {
            return Ok(false);
        };
        let mut line = Line::default();
        for row in &answer.messages {
            line.text(&row.id)
                .plain(row.category)
                .text(&row.target)
                .text_or_empty(row.summary.as_deref())
                .plain(row.retry_count)
                .plain(row.max_retries)
                .text_or_empty(row.last_error.as_deref())
                .plain(row.created_at)
                .plain_or_empty(row.last_attempt_at)
                .plain_or_empty(row.parked_at)
                .text_or_empty(row.instance.as_deref())
                .text_or_empty(row.script.as_deref());
            line.end(out);
        }
        if let Some(after) = answer.next {
            let more = ask(&self.state, self.tenant, &self.site, Some(after)).await;
            // A file that breaks off ends the connection, so that nobody takes it for the whole.
            self.next = Some(more.map_err(|error| match error {
                RelayError::Store(error) => error,
                error => store::Error::Refused(in_words(&error)),
            })?);
        }
        Ok(self.next.is_some())
    }
}
