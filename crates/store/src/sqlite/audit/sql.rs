//! The statements of this job, named like their files.

statements!(
    attempts_made,
    audit_by_operation,
    audit_by_seq,
    audit_deliveries,
    audit_delivery_of,
    audit_insert,
    audit_page,
    audit_send_of,
    audit_sends,
    transcript,
);
