//! The statements of this job, named like their files.

statements!(
    misplaced,
    ping,
    purge_audit,
    purge_audit_of,
    purge_candidates,
    purge_jobs,
    purge_notification,
    purge_oldest_left,
    purge_outcome,
    purge_recipients,
    purge_site_calls,
    purge_spend_key,
    purge_spent_keys,
    purge_stats,
    purgeable_audit,
    purgeable_jobs,
    purgeable_notifications,
    purgeable_site_calls,
    purgeable_spent_keys,
    purgeable_stats,
);
