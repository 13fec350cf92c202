//! The migrations of each database, carried in the program. A new one is a file in its folder and its name here.

use refinery_core::{Error, Migration, Runner};

/// The migrations of one database, oldest first.
#[derive(Debug)]
pub(crate) struct Schema(&'static [(&'static str, &'static str)]);

macro_rules! schema {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        Schema(&[$((
            $name,
            include_str!(concat!("../migrations/", $folder, "/", $name, ".sql")),
        )),+])
    };
}

pub(crate) static SQLITE: Schema = schema! { "sqlite":
    "V1__outbox",
    "V2__sites",
    "V3__users",
    "V4__leases",
    "V5__deliveries",
    "V6__expiring",
    "V7__tenants_end",
    "V8__sites_in_conflict",
    "V9__failures",
    "V10__templates",
    "V11__receipts",
    "V12__console",
    "V13__events",
    "V14__suppressions",
    "V15__transcripts",
    "V16__holds_by",
    "V17__failover",
    "V18__lifted_suppressions",
    "V19__events_notify",
    "V20__site_leases",
    "V21__site_categories",
    "V22__replay_jobs",
    "V23__busy_entities",
    "V24__lane_settings_since",
    "V25__spent_event_ids",
    "V27__attempts_by_provider",
    "V28__site_machines",
    "V29__stuck",
    "V30__stuck_by_number",
};

pub(crate) static POSTGRES: Schema = schema! { "postgres":
    "V1__outbox",
    "V2__sites",
    "V3__users",
    "V4__leases",
    "V5__deliveries",
    "V6__expiring",
    "V7__tenants_end",
    "V8__sites_in_conflict",
    "V9__failures",
    "V10__templates",
    "V11__receipts",
    "V12__console",
    "V13__events",
    "V14__suppressions",
    "V15__transcripts",
    "V16__holds_by",
    "V17__failover",
    "V18__lifted_suppressions",
    "V19__events_notify",
    "V20__site_leases",
    "V21__site_categories",
    "V22__replay_jobs",
    "V23__busy_entities",
    "V24__lane_settings_since",
    "V25__spent_event_ids",
    "V27__attempts_by_provider",
    "V28__site_machines",
    "V29__stuck",
    "V30__stuck_by_number",
};

pub(crate) static BUFFER: Schema = schema! { "buffer":
    "V1__buffer",
    "V2__damage",
    "V3__events_by_message",
    "V4__memory_of_news",
    "V5__replication",
    "V6__categories",
    "V7__log_without_sequence",
};

impl Schema {
    pub fn runner(&self) -> Result<Runner, Error> {
        let migrations: Result<Vec<_>, _> = self
            .0
            .iter()
            .map(|(name, sql)| Migration::unapplied(name, sql))
            .collect();
        Ok(Runner::new(&migrations?))
    }

    /// The newest version this program knows.
    pub fn version(&self) -> i64 {
        let number = |(name, _): &(&str, _)| name.strip_prefix('V')?.split_once("__")?.0.parse().ok();
        self.0.iter().filter_map(number).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, path::Path};

    #[test]
    fn every_migration_in_a_folder_is_carried_and_can_be_run() {
        for (folder, schema) in [("sqlite", &SQLITE), ("postgres", &POSTGRES), ("buffer", &BUFFER)] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("migrations")
                .join(folder);
            let files: BTreeSet<_> = std::fs::read_dir(path)
                .unwrap()
                .map(|file| file.unwrap().path().file_stem().unwrap().to_owned())
                .collect();
            let carried: BTreeSet<_> = schema.0.iter().map(|(name, _)| (*name).into()).collect();
            assert_eq!(carried, files, "{folder}");
            let runner = schema.runner().unwrap();
            let newest = runner.get_migrations().iter().map(Migration::version).max();
            assert_eq!(newest.map(i64::from), Some(schema.version()), "{folder}");
        }
    }
}
