//! `[events]`: how events become notifications, and how long they are kept.

use super::{event_source::Source, key::Key, problem::Problem};
use central::events::EventSettings;
use domain::{
    retry::{human, seconds},
    template::MissingPlaceholder,
};
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, path::Path, sync::Arc, time::Duration};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Events {
    #[serde(with = "seconds")]
    pub poll_interval: Duration,
    pub batch_size: u32,
    pub max_attempts: u32,
    #[serde(with = "seconds")]
    pub recheck: Duration,
    pub max_payload: u64,
    pub notify: bool,
    #[serde(with = "seconds")]
    pub retention: Duration,
    pub missing_placeholder: MissingPlaceholder,
    /// Written as `[[event_source]]`.
    #[serde(skip_serializing)]
    pub source: Vec<Source>,
}

impl Default for Events {
    /// What a node does when it is told nothing.
    fn default() -> Self {
        let node = EventSettings::default();
        Self {
            poll_interval: node.poll_interval,
            batch_size: node.batch_size,
            max_attempts: node.max_attempts,
            recheck: node.recheck,
            max_payload: node.max_payload as u64,
            notify: node.notify,
            retention: central::Settings::named("").retention.events,
            missing_placeholder: MissingPlaceholder::default(),
            source: vec![],
        }
    }
}

pub const POLL_INTERVAL: Key = Key::new(
    "events.poll_interval",
    "a duration from \"20ms\" to \"1h\", like \"200ms\"",
    "The longest pause between two looks for new events. While there is traffic they come every 20 ms.",
);
pub const BATCH_SIZE: Key = Key::new(
    "events.batch_size",
    "a number from 1 to 1000",
    "How many events are published in one transaction; in a backlog of short ones up to eight times as many.",
);
pub const MAX_ATTEMPTS: Key = Key::new(
    "events.max_attempts",
    "a number from 0 to 20",
    "How often an event is tried again after an error of its own (after 1, 2, 4, 8, 16 minutes), before it is Failed.",
);
pub const RECHECK: Key = Key::new(
    "events.recheck",
    "a duration from \"1m\" to \"30d\", like \"1h\"",
    "How often what waits for its time is computed again, because the date it hangs on may have moved.",
);
pub const MAX_PAYLOAD: Key = Key::new(
    "events.max_payload",
    "a number of bytes from 1024 to 3145728",
    "The longest payload of an event. A longer one is Failed without being looked at.",
);
pub const NOTIFY: Key = Key::new(
    "events.notify",
    "true or false",
    "On PostgreSQL: emit_event also wakes the nodes when the producer's transaction commits (NOTIFY). It makes commits of the \
     whole database wait for each other; without it events are found within poll_interval.",
);
pub const RETENTION: Key = Key::new(
    "events.retention",
    "a duration from \"1h\" to \"36600d\", like \"365d\"",
    "How long events are kept that ended or were deferred, with their schedules; never before the notifications they \
     caused are gone. Their ids stay spent.",
);
pub const MISSING_PLACEHOLDER: Key = Key::new(
    "events.missing_placeholder",
    "\"empty\" or \"keep\"",
    "What stands in a message where its template names a value that the event does not have: nothing, or the placeholder.",
);

pub const SOURCE: Key = Key::new(
    "events.source",
    "tables [[event_source]] with name, url (postgres://… or sqlite://path) or url_file, tenant or tenants, and if need be keep \
     (\"7d\"), outbox (true), lookup_url or lookup_url_file, and lookups",
    "Outboxes in applications' own databases; `waypost event install` makes one. lookups are queries by name that add values \
     to an event, with :tenant and :entity; with outbox = false there is nothing else in it.",
)
.example("[{ name = \"shop\", url = \"postgres://waypost@db.example/shop\", tenant = \"default\" }]");

pub const KEYS: &[Key] = &[
    POLL_INTERVAL,
    BATCH_SIZE,
    MAX_ATTEMPTS,
    RECHECK,
    MAX_PAYLOAD,
    NOTIFY,
    RETENTION,
    MISSING_PLACEHOLDER,
    SOURCE,
];

impl Events {
    pub fn problems(&self) -> Vec<Problem> {
        let mut bad = vec![];
        let hour = Duration::from_secs(3600);
        if !(Duration::from_millis(20)..=hour).contains(&self.poll_interval) {
            bad.push(Problem::takes(
                &POLL_INTERVAL,
                format!("{:?}", human(self.poll_interval)),
            ));
        }
        if !(Duration::from_secs(60)..=30 * 24 * hour).contains(&self.recheck) {
            bad.push(Problem::takes(&RECHECK, format!("{:?}", human(self.recheck))));
        }
        if !(hour..=domain::retry::LONGEST_DURATION).contains(&self.retention) {
            bad.push(Problem::takes(&RETENTION, format!("{:?}", human(self.retention))));
        }
        if !(1..=1_000).contains(&self.batch_size) {
            bad.push(Problem::takes(&BATCH_SIZE, self.batch_size));
        }
        if self.max_attempts > 20 {
            bad.push(Problem::takes(&MAX_ATTEMPTS, self.max_attempts));
        }
        if !(1024..=3 << 20).contains(&self.max_payload) {
            bad.push(Problem::takes(&MAX_PAYLOAD, self.max_payload));
        }
        let mut seen = HashSet::new();
        for source in &self.source {
            let named = |why: String| Problem::new(SOURCE.name, format!("{:?}: {why}", source.name));
            if source.name.trim().is_empty() || source.name.len() > 100 || !seen.insert(&source.name) {
                bad.push(named(
                    "the name must not be blank, at most 100 bytes, and used once".into(),
                ));
            }
            bad.extend(source.build().err().map(named));
        }
        bad.extend(self.same_lookups());
        bad
    }

    /// Applications never write the file that everything is kept in, so no source is in it.
    pub fn in_own_file(&self, own: &Path) -> Vec<Problem> {
        let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
        let own = place(own);
        let is_own = |source: &&Source| {
            source
                .files()
                .iter()
                .any(|file| own.is_some() && place(file) == own)
        };
        let sources = self.source.iter().filter(is_own);
        let why = "is the file of database.url; an application has a file of its own";
        sources
            .map(|source| Problem::new(SOURCE.name, format!("{:?}: {why}", source.name)))
            .collect()
    }

    /// Event types name a lookup and not its source, so a tenant has one of each name.
    fn same_lookups(&self) -> Vec<Problem> {
        let mut bad = vec![];
        for (i, one) in self.source.iter().enumerate() {
            let tenants = one.tenant_names();
            let others = self.source[..i].iter().filter(|other| {
                let theirs = other.tenant_names();
                tenants.iter().any(|tenant| theirs.contains(tenant))
            });
            for other in others {
                for name in one
                    .lookups
                    .keys()
                    .filter(|name| other.lookups.contains_key(*name))
                {
                    let why = format!("{:?} has a lookup {name:?} for the same tenant", other.name);
                    bad.push(Problem::new(SOURCE.name, format!("{:?}: {why}", one.name)));
                }
            }
        }
        bad
    }

    pub fn settings(&self) -> EventSettings {
        EventSettings {
            poll_interval: self.poll_interval,
            batch_size: self.batch_size,
            max_attempts: self.max_attempts,
            recheck: self.recheck,
            max_payload: usize::try_from(self.max_payload).unwrap_or(usize::MAX),
            notify: self.notify,
            lookup_wait: EventSettings::default().lookup_wait,
            // Those that could not be built were told when the configuration was read.
            sources: self
                .source
                .iter()
                .filter_map(|s| s.build().ok())
                .map(Arc::new)
                .collect(),
        }
    }
}
