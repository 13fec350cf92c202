//! Routes and lanes in memory. What else is kept is in a [`super::versioned::Versioned`] of its own.

use super::{LaneEntry, Route, versioned::Weigh};
use domain::{Channel, LaneId, ProviderId, TenantId};
use std::{collections::HashMap, sync::Arc};
use store::{directory::List, events::EventTypeRow, templates::Template};

#[derive(Debug, Default)]
pub(super) struct Cache {
    pub version: i64,
    /// Only of providers and channels that there are: what a sender makes up is asked about again each time.
    pub routes: HashMap<(TenantId, Option<ProviderId>, Option<Channel>), Route>,
    pub lanes: HashMap<LaneId, Arc<LaneEntry>>,
}

/// The most recipients that are kept in memory; beyond it lists are read from the store again.
pub(super) const LISTED_RECIPIENTS: usize = 200_000;
/// The most bytes of templates that are kept in memory.
pub(super) const TEMPLATE_BYTES: usize = 32 << 20;

/// The most types of events that are kept in memory, each counted as one.
pub(super) const EVENT_TYPES: usize = 10_000;

impl Weigh for EventTypeRow {
    fn weight(&self) -> usize {
        0
    }
}

impl Weigh for List {
    fn weight(&self) -> usize {
        self.recipients.len()
    }
}

impl Weigh for Vec<Template> {
    fn weight(&self) -> usize {
        let weight = |template: &Template| {
            let content = &template.content;
            // What a variant takes besides its texts.
            const REST: usize = 1_000;
            content.body.len() + content.body_html.as_ref().map_or(0, String::len) + REST
        };
        self.iter().map(weight).sum()
    }
}
