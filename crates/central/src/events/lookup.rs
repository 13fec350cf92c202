//! Lookups: values that an application's own database adds to an event, by a query the configuration names.
//!
//! Always true: a source is asked for the tenants it names and for no other. One that cannot be reached is asked again at its
//! next probe, not once for every event; that it cannot be reached counts against no event.

use domain::{Timestamp, lock::lock, retry, template::Payload};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use store::sources::{EventSource, SourceError};

/// The lookups of all sources, by name. Sources of different tenants may have some of the same name.
#[derive(Debug, Clone, Default)]
pub struct Lookups(Arc<BTreeMap<String, Vec<Lookup>>>);

#[derive(Debug)]
struct Lookup {
    source: Arc<EventSource>,
    hold: Arc<Mutex<Hold>>,
}

/// Set while a source does not answer.
#[derive(Debug, Default)]
struct Hold {
    failures: u32,
    until: Option<Timestamp>,
    why: String,
}

/// What a lookup found.
#[derive(Debug, PartialEq)]
pub(super) enum LookedUp {
    Row {
        values: Payload,
        cancelled: bool,
    },
    NoRow,
    /// Nothing can be said; ask again after this.
    Held {
        after: Duration,
        why: String,
    },
    /// The query itself fails for this one.
    Failed(String),
}

/// The column that says that the entity was called off.
const CANCELLED: &str = "cancelled";

impl Lookups {
    pub fn of(sources: &[Arc<EventSource>]) -> Self {
        let mut lookups: BTreeMap<String, Vec<Lookup>> = BTreeMap::new();
        for source in sources {
            let hold = Arc::<Mutex<Hold>>::default();
            for name in source.lookups() {
                let lookup = Lookup {
                    source: source.clone(),
                    hold: hold.clone(),
                };
                lookups.entry(name.to_owned()).or_default().push(lookup);
            }
        }
        Self(Arc::new(lookups))
    }

    /// Whether there is such a lookup for this tenant.
    pub fn knows(&self, name: &str, tenant: &str) -> bool {
        self.find(name, tenant).is_some()
    }

    fn find(&self, name: &str, tenant: &str) -> Option<&Lookup> {
        let named = self.0.get(name)?;
        named.iter().find(|lookup| lookup.source.has_tenant(tenant))
    }

    pub(super) async fn look_up(&self, name: &str, tenant: &str, entity: &str, now: Timestamp) -> LookedUp {
        let Some(lookup) = self.find(name, tenant) else {
            let why = format!("there is no lookup {name:?} for this tenant in the configuration");
            return LookedUp::Held {
                after: retry::probe_source(u32::MAX),
                why,
            };
        };
        if let Some(held) = lookup.held(now) {
            return held;
        }
        match lookup.source.look_up(name, tenant, entity).await {
            Ok(found) => {
                *lock(&lookup.hold) = Hold::default();
                found.map_or(LookedUp::NoRow, |json| row(&json))
            }
            Err(SourceError::Row(why)) => LookedUp::Failed(why),
            Err(SourceError::Unreachable(why)) => lookup.holds(now, why),
        }
    }
}

impl Lookup {
    fn held(&self, now: Timestamp) -> Option<LookedUp> {
        let hold = lock(&self.hold);
        let until = hold.until.filter(|until| *until > now)?;
        Some(LookedUp::Held {
            after: until.since(now),
            why: hold.why.clone(),
        })
    }

    fn holds(&self, now: Timestamp, why: String) -> LookedUp {
        let mut hold = lock(&self.hold);
        hold.failures = hold.failures.saturating_add(1);
        let after = retry::probe_source(hold.failures);
        let why = format!("event source {}: {why}", self.source.name());
        tracing::warn!(
            event.source = self.source.name(),
            error = why,
            "a lookup found nobody"
        );
        hold.until = Some(now + after);
        hold.why.clone_from(&why);
        LookedUp::Held { after, why }
    }
}

fn row(json: &str) -> LookedUp {
    match Payload::read(json) {
        Ok(values) => {
            let said = values.get(CANCELLED).unwrap_or("").trim().to_ascii_lowercase();
            let cancelled = matches!(said.as_str(), "true" | "t" | "1" | "yes" | "y");
            LookedUp::Row { values, cancelled }
        }
        Err(why) => LookedUp::Failed(format!("what the lookup found cannot be read: {why}")),
    }
}
