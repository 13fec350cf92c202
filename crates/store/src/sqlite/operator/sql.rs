//! The statements of this job, named like their files.

statements!(
    cancel_waiting,
    discard_parked,
    ended_seq,
    lane_of,
    requeue_due,
    requeue_parked,
    status_of,
    try_now,
    try_now_recipients,
);
