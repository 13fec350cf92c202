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
    accepted_event,
    acked_bytes,
    attempt_released,
    attempted_delivered,
    attempted_parked,
    attempted_retry,
    begin_try,
    bury_acked,
    bury_discarded,
    bury_emptied,
    claim_due,
    count_of_target,
    counts,
    counts_remembered,
    damage_acknowledge,
    damage_count,
    damage_insert,
    damage_more_rows,
    damage_open,
    discard,
    due_now,
    empty_acked,
    enqueue,
    event_insert,
    events_of_message,
    events_page,
    forget_payloads,
    forgotten_read,
    forgotten_remove,
    forgotten_write,
    forwardable,
    hash_by_id,
    highest_op,
    interrupted,
    known_anywhere,
    message_by_id,
    meta_get,
    meta_set,
    notification_times,
    oldest_waiting,
    park_forward,
    places_of_target,
    pull_due_in,
    purge_events,
    purge_tombstones,
    purge_tracking,
    recover_message,
    recover_tracking,
    remembered_by_id,
    remembered_oldest,
    remove_acked,
    remove_unreadable,
    requeue,
    restore_acked,
    salvage_by_category_asc,
    salvage_by_category_desc,
    salvage_by_seq_asc,
    salvage_by_seq_desc,
    salvage_by_status_asc,
    salvage_by_status_desc,
    salvage_ended,
    salvage_row,
    selected,
    selected_count,
    set_row_aside,
    targets_due,
    telemetry_again,
    telemetry_count,
    telemetry_drop,
    telemetry_forget,
    telemetry_heard,
    telemetry_insert,
    telemetry_page,
    telemetry_unreadable,
    told_of,
    tombstone_by_id,
    tracking_by_id,
    tracking_insert,
    tracking_update,
    unbury_restored,
    waiting_page,
);

/// Every way to find out which messages a damaged file has.
pub(super) const SALVAGE_PLACES: [&str; 6] = [
    salvage_by_seq_asc,
    salvage_by_seq_desc,
    salvage_by_status_asc,
    salvage_by_status_desc,
    salvage_by_category_asc,
    salvage_by_category_desc,
];

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
