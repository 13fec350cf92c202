//! Asking: one notification, pages of them, the audit log, the figures.

use crate::{
    AttemptTranscript, AuditFilter, AuditRow, Client, Filter, NotificationRow, Result, SiteKpis,
    StatusReport, http::NONE,
};
use domain::{NotificationId, kpi::Kpis};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Part of a longer answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where to go on; none at the end. A page may be short, even empty, and still go on.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Rows asked for at once when all are wanted.
const PAGE: u32 = 500;

impl Client {
    pub async fn status(&self, id: NotificationId) -> Result<StatusReport> {
        self.get(&["api", "notifications", &id.to_string(), "status"], NONE)
            .await
    }

    pub async fn notification(&self, id: NotificationId) -> Result<NotificationRow> {
        self.get(&["api", "notifications", &id.to_string()], NONE).await
    }

    /// What happened to it, oldest first.
    pub async fn attempts(&self, id: NotificationId) -> Result<Vec<AuditRow>> {
        let page: Page<_> = self
            .get(&["api", "notifications", &id.to_string(), "attempts"], NONE)
            .await?;
        Ok(page.items)
    }

    /// What was said in one of its attempts, by the number that [`Client::attempts`] gives it. Not found where that is not
    /// kept.
    pub async fn transcript(&self, id: NotificationId, number: u32) -> Result<AttemptTranscript> {
        let (id, number) = (id.to_string(), number.to_string());
        let path = ["api", "notifications", &id, "attempts", &number, "transcript"];
        self.get(&path, NONE).await
    }

    /// One page of notifications, newest first.
    pub async fn list_page(
        &self,
        filter: &Filter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Page<NotificationRow>> {
        self.page(&["api", "notifications"], filter.pairs(), limit, cursor)
            .await
    }

    /// All notifications of the filter, newest first, fetched page by page as they are taken.
    pub fn list(&self, filter: &Filter) -> impl Stream<Item = Result<NotificationRow>> + Send + use<> {
        self.pages(&["api", "notifications"], filter.pairs(), PAGE)
    }

    /// The newest notifications of the filter, at most so many.
    pub async fn list_first(&self, filter: &Filter, n: usize) -> Result<Vec<NotificationRow>> {
        self.first(&["api", "notifications"], filter.pairs(), n).await
    }

    /// The newest rows of the audit log, at most so many.
    pub async fn audit_first(&self, filter: &AuditFilter, n: usize) -> Result<Vec<AuditRow>> {
        self.first(&["api", "audit"], filter.pairs(), n).await
    }

    /// The audit log, newest first, fetched page by page as it is taken.
    pub fn audit(&self, filter: &AuditFilter) -> impl Stream<Item = Result<AuditRow>> + Send + use<> {
        self.pages(&["api", "audit"], filter.pairs(), PAGE)
    }

    pub async fn kpis(&self) -> Result<Kpis> {
        self.get(&["api", "kpis"], NONE).await
    }

    pub async fn kpis_by_site(&self) -> Result<Vec<SiteKpis>> {
        let page: Page<_> = self.get(&["api", "kpis", "sites"], NONE).await?;
        Ok(page.items)
    }

    pub(crate) async fn page<T: DeserializeOwned>(
        &self,
        path: &[&str],
        mut query: Vec<(&'static str, String)>,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Page<T>> {
        query.push(("limit", limit.to_string()));
        query.extend(cursor.map(|c| ("cursor", c.to_owned())));
        self.get(path, &query).await
    }

    /// Asks for no more than is wanted, in pages no longer than usual.
    pub(crate) async fn first<T: DeserializeOwned + Send + 'static>(
        &self,
        path: &'static [&'static str],
        query: Vec<(&'static str, String)>,
        n: usize,
    ) -> Result<Vec<T>> {
        let limit = u32::try_from(n).unwrap_or(PAGE).clamp(1, PAGE);
        self.pages(path, query, limit).take(n).try_collect().await
    }

    /// Everything there is, page by page.
    pub(crate) async fn all<T: DeserializeOwned + Send + 'static>(
        &self,
        path: &'static [&'static str],
    ) -> Result<Vec<T>> {
        self.pages(path, vec![], PAGE).try_collect().await
    }

    pub(crate) fn pages<T: DeserializeOwned + Send + 'static>(
        &self,
        path: &'static [&'static str],
        query: Vec<(&'static str, String)>,
        limit: u32,
    ) -> impl Stream<Item = Result<T>> + Send + use<T> {
        let first = Some((self.clone(), query, None::<String>));
        stream::try_unfold(first, move |state| async move {
            let Some((client, query, cursor)) = state else {
                return Ok(None);
            };
            let page: Page<T> = client.page(path, query.clone(), limit, cursor.as_deref()).await?;
            let next = page.next_cursor.map(|cursor| (client, query, Some(cursor)));
            Ok(Some((stream::iter(page.items.into_iter().map(Ok)), next)))
        })
        .try_flatten()
    }
}
