//! The statements of this job, named like their files.

statements!(
    audit_insert_site,
    database,
    lease_get,
    lease_put,
    machine_left,
    machine_seen,
    machines_of,
    relay_answer,
    relay_answered,
    relay_ask,
    relay_expire,
    relay_take,
    site,
    site_call_put,
    site_calls_page,
    site_conflict,
    site_left,
    site_put,
    site_seen,
    sites_of,
);
