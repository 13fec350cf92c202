//! The statements of this job, named like their files.

statements!(
    receipt_attempt_logged,
    receipt_done,
    receipt_found,
    receipt_keep,
    receipt_lane,
    receipt_later,
    receipt_message,
    receipt_notification,
    receipt_opt_out,
    receipt_parked,
    receipt_proven,
    receipt_recipient,
    receipt_shown,
    receipt_tries,
    receipts_due,
    receipts_orphaned,
    receipts_waiting,
);
