//! Every statement of the buffer, named like its file.

#![allow(non_upper_case_globals, reason = "a statement is named like its file")]

macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        $(pub(super) const $name: &str = include_str!(concat!("sql/", stringify!($name), ".sql"));)*

        /// For the test that no file is left over.
        #[cfg(test)]
        const ALL: &[&str] = &[$(stringify!($name)),*];
    };
}

statements!(
    attempt_released,
    attempted_delivered,
    attempted_parked,
    attempted_retry,
    bury_acked,
    bury_discarded,
    claim_due,
    count_of_target,
    counts,
    discard,
    enqueue,
    event_insert,
    events_page,
    forget_acked,
    forwardable,
    hash_by_id,
    highest_op,
    interrupted,
    message_by_id,
    meta_get,
    meta_set,
    oldest_waiting,
    park_forward,
    parked_page,
    purge_events,
    purge_tombstones,
    purge_tracking,
    remove_acked,
    requeue,
    restore_acked,
    targets_due,
    telemetry_count,
    telemetry_done,
    telemetry_drop,
    telemetry_insert,
    telemetry_page,
    tombstone_by_id,
    tracking_by_id,
    tracking_insert,
    tracking_update,
    unbury_restored,
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_a_statement_somebody_uses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/buffer/sql");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(".sql").unwrap().to_owned())
            .collect();
        let named = super::ALL.iter().map(|s| s.to_string()).collect();
        assert_eq!(files, named);
    }
}
