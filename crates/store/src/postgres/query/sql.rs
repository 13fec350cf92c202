//! The statements of this job, named like their files.

statements!(
    get,
    kpi_delivered,
    kpi_delivered_all,
    kpi_delivered_by_site,
    kpi_parked,
    kpi_parked_all,
    kpi_parked_by_site,
    kpi_waiting,
    kpi_waiting_all,
    kpi_waiting_by_site,
    lanes_of,
    list_by_entity,
    list_by_execution,
    list_by_id,
    list_by_time,
    list_match,
    list_parked,
    list_row,
    list_waiting,
    recipients_of,
);
