//! Who of a claim's recipients asked not to be written to.
//!
//! Always true: entries are read at the claim, never from memory; a tenant that has none costs no question; what cannot
//! be read of one tenant keeps back nobody else's messages.

use crate::directory::{
    Directory,
    versioned::{Versioned, Weigh},
};
use domain::{
    Channel, Content, Target, TenantId,
    suppression::{NewSuppression, Suppression, compared},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use store::{Suppressions, outbox::Claimed};

/// The tenants that have entries, as of one version of the directory: the first entry of a tenant raises it.
#[derive(Debug)]
struct Suppressing(HashSet<TenantId>);

impl Weigh for Suppressing {
    fn weight(&self) -> usize {
        self.0.len()
    }
}

const MOST_TENANTS: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct SuppressionCheck {
    store: Arc<dyn Suppressions>,
    tenants: Versioned<(), Suppressing>,
}

/// What one claim found.
#[derive(Debug, Default)]
pub(super) struct Suppressed {
    tenants: HashSet<TenantId>,
    asked: HashSet<(TenantId, String)>,
    entries: HashMap<(TenantId, String), Vec<NewSuppression>>,
    /// Of these tenants an entry cannot be read.
    unreadable: HashSet<TenantId>,
}

/// How an address stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Standing {
    MayBeSentTo,
    /// And why.
    Suppressed(String),
    /// It came onto its list after the claim had asked.
    NotAskedAbout,
    /// What its tenant has entered cannot be read.
    Unreadable,
}

impl SuppressionCheck {
    pub fn new(store: Arc<dyn Suppressions>) -> Self {
        Self {
            store,
            tenants: Versioned::with_room(MOST_TENANTS),
        }
    }

    /// Asks about everybody the rows are for, all at once.
    pub async fn ask(&self, directory: &Directory, rows: &[Claimed]) -> store::Result<Suppressed> {
        let read = async {
            let tenants = self.store.suppressing_tenants().await?;
            Ok(Some(Suppressing(tenants.into_iter().collect())))
        };
        let suppressing = self.tenants.get_or_read(directory.version(), (), read).await?;
        let Some(suppressing) = suppressing.filter(|s| rows.iter().any(|row| s.0.contains(&row.tenant)))
        else {
            return Ok(Suppressed::default());
        };
        let mut asked = HashSet::new();
        for row in rows.iter().filter(|row| suppressing.0.contains(&row.tenant)) {
            match &row.content.target {
                _ if about(&row.content).is_none() => {}
                Target::Provider => {}
                Target::Recipients(to) => asked.extend(to.iter().map(|to| (row.tenant, compared(to)))),
                Target::List(name) => {
                    let list = match directory.list(row.tenant, name).await {
                        // The attempt finds the same, and says so.
                        Err(error) if !error.may_pass() => None,
                        list => list?,
                    };
                    let members = list.iter().flat_map(|list| &list.recipients);
                    asked.extend(members.map(|member| (row.tenant, compared(&member.address))));
                }
            }
        }
        let mut found = Suppressed {
            tenants: suppressing.0.clone(),
            ..Suppressed::default()
        };
        if !asked.is_empty() {
            let pairs: Vec<_> = asked.iter().cloned().collect();
            match self.store.suppressed(&pairs).await {
                Err(error) if !error.may_pass() => self.ask_by_tenant(pairs, &mut found).await?,
                entries => found.add(entries?),
            }
        }
        found.asked = asked;
        Ok(found)
    }

    /// One entry cannot be read: whose it is shows when each tenant is asked about alone.
    async fn ask_by_tenant(
        &self,
        pairs: Vec<(TenantId, String)>,
        found: &mut Suppressed,
    ) -> store::Result<()> {
        let mut of_tenants: HashMap<_, Vec<_>> = HashMap::new();
        for pair in pairs {
            of_tenants.entry(pair.0).or_default().push(pair);
        }
        for (tenant, pairs) in of_tenants {
            match self.store.suppressed(&pairs).await {
                Err(error) if !error.may_pass() => {
                    tracing::error!(
                        tenant.id = tenant.0,
                        error = &error as &dyn std::error::Error,
                        "who must not be written to cannot be read; nothing of this tenant is sent"
                    );
                    found.unreadable.insert(tenant);
                }
                entries => found.add(entries?),
            }
        }
        Ok(())
    }
}

impl Suppressed {
    fn add(&mut self, entries: Vec<(TenantId, Suppression)>) {
        for (tenant, found) in entries {
            let key = (tenant, compared(&found.entry.address));
            self.entries.entry(key).or_default().push(found.entry);
        }
    }

    pub fn standing(&self, tenant: TenantId, channel: Channel, content: &Content, address: &str) -> Standing {
        let (true, Some(topics)) = (self.tenants.contains(&tenant), about(content)) else {
            return Standing::MayBeSentTo;
        };
        if self.unreadable.contains(&tenant) {
            return Standing::Unreadable;
        }
        let key = (tenant, compared(address));
        if !self.asked.contains(&key) {
            return Standing::NotAskedAbout;
        }
        let mut entries = self.entries.get(&key).into_iter().flatten();
        let covering = entries.find(|entry| entry.covers(channel, &topics));
        covering.map_or(Standing::MayBeSentTo, |entry| {
            Standing::Suppressed(entry.in_words())
        })
    }
}

/// What a message is about, for entries that name a topic. None: it goes out in any case.
fn about(content: &Content) -> Option<Vec<&str>> {
    match content.event.as_deref() {
        None => Some(vec![]),
        Some(event) if event.critical => None,
        Some(event) => Some(
            event
                .topic
                .as_deref()
                .into_iter()
                .chain([event.event_type.as_str()])
                .collect(),
        ),
    }
}
