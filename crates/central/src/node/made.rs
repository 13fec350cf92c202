//! The services of a node, each made of the parts it uses.

use super::Settings;
use crate::{
    changes::Changes,
    chores::Chores,
    directory::Directory,
    events::{EventParts, EventService, Lookups},
    failover::FailoverService,
    ingest::Ingest,
    operator::OperatorService,
    providers::ProviderService,
    receipts::ReceiptService,
    sites::{SiteService, SiteStore},
    templates::TemplateService,
    wake::Wake,
};
use domain::Clock;
use std::sync::Arc;
use store::Store;

/// What the services of a node are made of. Each sees of the store what it uses.
pub(super) struct Made {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub directory: Arc<Directory>,
    pub wake: Arc<Wake>,
    pub changes: Changes,
    pub chores: Arc<Chores>,
    /// One for all who ask, so that a source is asked by no more than it can answer.
    pub lookups: Lookups,
}

impl Made {
    pub fn ingest(&self, settings: &Settings) -> Ingest {
        Ingest::new(
            self.store.clone(),
            self.store.clone(),
            self.directory.clone(),
            self.wake.clone(),
            self.changes.clone(),
            settings.tracer.clone(),
        )
    }

    pub fn operator(&self, ingest: &Ingest) -> OperatorService {
        OperatorService::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.directory.clone(),
            ingest.clone(),
            self.wake.clone(),
            self.changes.clone(),
        )
    }

    pub fn sites(&self, ingest: &Ingest, settings: &Settings) -> SiteService {
        SiteService::new(
            SiteStore::of(&self.store),
            ingest.clone(),
            self.clock.clone(),
            settings.node.clone(),
        )
        .leasing(settings.site_lease)
    }

    pub fn templates(&self, ingest: &Ingest, settings: &Settings) -> TemplateService {
        TemplateService::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.directory.clone(),
            ingest.clone(),
            settings.missing_placeholder,
        )
        .looking_up(self.lookups.clone(), self.store.clone())
    }

    pub fn events(
        &self,
        templates: &TemplateService,
        operator: &OperatorService,
        ingest: &Ingest,
        settings: &Settings,
    ) -> EventService {
        EventService::new(EventParts {
            store: self.store.clone(),
            queries: self.store.clone(),
            tenants: self.store.clone(),
            signals: self.store.clone(),
            directory: self.directory.clone(),
            templates: templates.clone(),
            ingest: ingest.clone(),
            operator: operator.clone(),
            lookups: self.lookups.clone(),
            settings: settings.events.clone(),
            node: settings.node.clone(),
        })
    }

    pub fn providers(&self) -> ProviderService {
        ProviderService::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.directory.clone(),
            self.clock.clone(),
            self.wake.clone(),
        )
    }

    pub fn receipts(&self) -> ReceiptService {
        ReceiptService::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.directory.clone(),
            self.wake.clone(),
            self.changes.clone(),
        )
    }

    pub fn failover(&self) -> FailoverService {
        FailoverService::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.directory.clone(),
            self.wake.clone(),
            self.changes.clone(),
            self.chores.clone(),
        )
    }
}
