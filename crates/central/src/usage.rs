//! What hangs on something that is about to be removed: told before anybody is asked.
//!
//! Always true: every number is bounded, however long the history is.

use crate::node::Central;
use domain::{ScheduleStatus, Status, TenantId, TextFilters, Timestamp, Usage};
use store::{
    Result,
    events::{EventFilter, Schedule, ScheduleFilter},
    query::{Counted, Filter, Page},
    templates::{Template, TemplateFilter},
};

/// So many of the newest schedules are looked through for a message of a template.
const SCHEDULES_LOOKED_AT: u32 = 100;

const NEWEST: Page = Page {
    limit: 1,
    after: None,
};

impl Central {
    /// Of what a filter of the list asks for: a list, a provider.
    pub async fn usage_of(&self, tenant: TenantId, by: TextFilters) -> Result<Usage> {
        let filter = |status: &[Status]| Filter {
            status: status.to_vec(),
            by: by.clone(),
            ..Filter::default()
        };
        let count = async |status: &[Status]| {
            let counted = self.store.count(tenant, &filter(status)).await?;
            let (Counted::Exactly(n) | Counted::MoreThan(n) | Counted::AmongNewest(n)) = counted;
            Ok::<_, store::Error>(n.min(Usage::COUNTED))
        };
        Ok(Usage {
            waiting: count(&[Status::Pending, Status::Retrying]).await?,
            parked: count(&[Status::Parked]).await?,
            last_used_at: self.last_sent(tenant, &filter(&[])).await?,
            ..Usage::default()
        })
    }

    pub async fn usage_of_tenant(&self, tenant: TenantId) -> Result<Usage> {
        let hangs = self.store.tenant_use(tenant).await?;
        let number = |n: i64| n.max(0).unsigned_abs();
        Ok(Usage {
            providers: number(hangs.providers),
            waiting: number(hangs.waiting),
            parked: number(hangs.parked),
            last_used_at: self.last_sent(tenant, &Filter::default()).await?,
            ..Usage::default()
        })
    }

    pub async fn usage_of_event_type(&self, tenant: TenantId, name: &str) -> Result<Usage> {
        let templates = TemplateFilter {
            event_type: Some(name.to_owned()),
            ..TemplateFilter::default()
        };
        let of_this_type = EventFilter {
            event_type: Some(name.to_owned()),
            ..EventFilter::default()
        };
        let newest = self.store.events(Some(tenant), &of_this_type, NEWEST).await?;
        let templates = self.store.templates(tenant, &templates).await?;
        Ok(Usage {
            templates: (templates.len() as u64).min(Usage::COUNTED),
            schedules: self.schedules_waiting(tenant, name).await?,
            last_used_at: newest.rows.first().map(|event| event.created_at),
            ..Usage::default()
        })
    }

    /// What was made of it before is there as it is and goes out without it.
    pub async fn usage_of_template(&self, tenant: TenantId, template: &Template) -> Result<Usage> {
        let event_type = &template.identity.event_type;
        let newest = self
            .schedules_of(tenant, event_type, None, SCHEDULES_LOOKED_AT)
            .await?;
        let id = template.id.to_string();
        let of_it = |schedule: &&Schedule| schedule.messages.iter().any(|message| message.template == id);
        Ok(Usage {
            schedules: self.schedules_waiting(tenant, event_type).await?,
            last_used_at: newest
                .iter()
                .find(of_it)
                .map(|schedule| schedule.published_at.unwrap_or(schedule.created_at)),
            ..Usage::default()
        })
    }

    async fn schedules_waiting(&self, tenant: TenantId, event_type: &str) -> Result<u64> {
        let pending = Some(ScheduleStatus::Pending);
        let found = self
            .schedules_of(tenant, event_type, pending, Usage::COUNTED as u32)
            .await?;
        Ok(found.len() as u64)
    }

    async fn schedules_of(
        &self,
        tenant: TenantId,
        event_type: &str,
        status: Option<ScheduleStatus>,
        limit: u32,
    ) -> Result<Vec<Schedule>> {
        let filter = ScheduleFilter {
            status,
            event_type: Some(event_type.to_owned()),
            ..ScheduleFilter::default()
        };
        let page = Page { limit, after: None };
        Ok(self.store.schedules(tenant, &filter, page).await?.rows)
    }

    async fn last_sent(&self, tenant: TenantId, filter: &Filter) -> Result<Option<Timestamp>> {
        let newest = self.store.list(tenant, filter, NEWEST).await?;
        Ok(newest.rows.first().map(|row| row.created_at))
    }
}
