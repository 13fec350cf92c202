//! Every statement, named like its file. One statement per file; PostgreSQL's are in `postgres/sql`.

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
    all_providers,
    audit_by_operation,
    audit_by_seq,
    audit_insert,
    audit_insert_site,
    audit_page,
    audit_send_of,
    audit_sends,
    begin_epoch,
    cancel_waiting,
    claim_due,
    claim_row,
    database,
    directory_bump,
    directory_version,
    discard_parked,
    get,
    hold_end,
    hold_probe_failed,
    hold_set,
    ingest_due,
    ingest_known,
    ingest_notification,
    ingest_spent,
    ingest_supersede,
    job,
    job_claim,
    job_create,
    job_progress,
    key_by_hash,
    key_create,
    key_revoke,
    keys,
    kpi_delivered,
    kpi_delivered_all,
    kpi_delivered_by_site,
    kpi_parked,
    kpi_parked_all,
    kpi_parked_by_site,
    kpi_waiting,
    kpi_waiting_all,
    kpi_waiting_by_site,
    lane,
    lane_claimable,
    lane_configured,
    lane_exists,
    lane_find,
    lane_make,
    lane_probe,
    lane_probe_taken,
    lane_waits,
    lanes_of,
    lanes_waiting,
    late_delivered,
    late_ended,
    late_place,
    list_backlog,
    list_by_entity,
    list_by_name,
    list_by_time,
    list_change,
    list_create,
    list_delete,
    list_match,
    list_parked,
    list_put,
    list_row,
    list_waiting,
    lists,
    misplaced,
    own_lane,
    pause_lane,
    ping,
    provider,
    provider_delete,
    provider_of_lane,
    provider_put,
    provider_reseal,
    providers,
    purge_audit,
    purge_audit_of,
    purge_candidates,
    purge_notification,
    purge_oldest_left,
    purge_outcome,
    purge_recipients,
    purge_site_calls,
    purge_spend_key,
    purge_spent_keys,
    purge_stats,
    purgeable_audit,
    purgeable_notifications,
    purgeable_site_calls,
    purgeable_spent_keys,
    purgeable_stats,
    recipients_of,
    record_ended,
    record_known,
    record_left,
    record_outcome,
    record_recipient,
    record_retry,
    record_wait,
    relay_answer,
    relay_answered,
    relay_ask,
    relay_expire,
    relay_take,
    release,
    renew,
    requeue_due,
    requeue_parked,
    schema_history_exists,
    schema_version,
    site,
    site_call_put,
    site_calls_page,
    site_left,
    site_put,
    site_seen,
    sites_of,
    stats_add,
    status_of,
    tenant_by_name,
    tenant_create,
    tenants,
    unrouted_channel,
    void_stale_leases,
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_a_statement_somebody_uses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sqlite/sql");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(".sql").unwrap().to_owned())
            .collect();
        let named = super::ALL.iter().map(|s| s.to_string()).collect();
        assert_eq!(files, named);
    }
}
