//! Lookups: values that an application's own database adds to an event, by a query the configuration names.
//!
//! Leaves to others: what is under way and how long is waited for it ([`super::asking`]).
//! Always true: a source is asked for the tenants it names and for no other. One that cannot be reached is asked again at its
//! next probe, not once for every event; that it cannot be reached counts against no event.

use super::{
    EventSettings,
    asking::{Asker, Asking, Question},
};
use domain::{Timestamp, retry, template::Payload};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use store::{
    events::Event,
    sources::{EventSource, SourceError},
};
use tokio::time::{Instant, timeout};

/// The lookups of all sources, by name. Sources of different tenants may have some of the same name.
#[derive(Debug, Clone)]
pub struct Lookups {
    named: Arc<BTreeMap<String, Vec<Arc<LookupSource>>>>,
    glance: Duration,
}

/// A source that is asked, and how that goes.
#[derive(Debug)]
struct LookupSource {
    source: Arc<EventSource>,
    asking: Arc<Asking>,
}

/// What a lookup found.
#[derive(Debug, Clone, PartialEq)]
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

/// For whom a lookup is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// A loop, on which others wait too: until then for all lookups of a batch, and it comes back for the answers.
    Briefly(Instant),
    /// A person, for as long as the source may take, and for an answer of now.
    ToTheEnd,
}

/// The column that says that the entity was called off.
const CANCELLED: &str = "cancelled";
/// So long a person waits for values that only a hint is made of, and at least as long as a loop waits.
const GLANCE: Duration = Duration::from_secs(2);

impl Lookups {
    pub fn of(settings: &EventSettings) -> Self {
        let mut lookups: BTreeMap<String, Vec<Arc<LookupSource>>> = BTreeMap::new();
        for source in &settings.sources {
            let asked = Arc::new(LookupSource {
                source: source.clone(),
                asking: Arc::new(Asking::new(source.name(), source.lookups_at_once())),
            });
            for name in source.lookups() {
                lookups.entry(name.to_owned()).or_default().push(asked.clone());
            }
        }
        Self {
            named: Arc::new(lookups),
            glance: GLANCE.max(settings.lookup_wait),
        }
    }

    /// Whether there is such a lookup for this tenant.
    pub fn knows(&self, name: &str, tenant: &str) -> bool {
        self.find(name, tenant).is_some()
    }

    fn find(&self, name: &str, tenant: &str) -> Option<&Arc<LookupSource>> {
        let named = self.named.get(name)?;
        named.iter().find(|asked| asked.source.has_tenant(tenant))
    }

    pub(super) async fn look_up(&self, question: Question, now: Timestamp, waits: Waits) -> LookedUp {
        let Some(asked) = self.find(&question.lookup, &question.tenant) else {
            let name = &question.lookup;
            let why = format!("there is no lookup {name:?} for this tenant in the configuration");
            return LookedUp::Held {
                after: retry::probe_source(u32::MAX),
                why,
            };
        };
        let ask = || {
            let (source, question) = (asked.source.clone(), question.clone());
            async move { ask(&source, &question).await }
        };
        asked.asking.answer(&question, now, waits, ask).await
    }

    /// What an event's lookup adds to it now, for a person who does not wait long; none where nobody can say.
    pub(crate) async fn added(&self, event: &Event, lookup: &str, now: Timestamp) -> Option<Payload> {
        let question = Question::of(event, lookup, Asker::Event);
        let looked_up = timeout(self.glance, self.look_up(question, now, Waits::ToTheEnd)).await;
        match looked_up {
            Ok(LookedUp::Row { values, .. }) => Some(values),
            _ => None,
        }
    }
}

/// An error is that nobody was reached.
async fn ask(source: &EventSource, question: &Question) -> Result<LookedUp, String> {
    let Question {
        lookup,
        tenant,
        entity,
        ..
    } = question;
    match source.look_up(lookup, tenant, entity).await {
        Ok(found) => Ok(found.map_or(LookedUp::NoRow, |json| row(&json))),
        Err(SourceError::Row(why)) => Ok(LookedUp::Failed(why)),
        Err(SourceError::Unreachable(why)) => Err(format!("event source {}: {why}", source.name())),
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
