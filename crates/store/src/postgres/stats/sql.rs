//! The statements of this job, named like their files.

statements!(
    failures_parked,
    failures_waiting,
    rollup_coarse,
    rollup_mark,
    rollup_mark_read,
    rollup_mark_set,
    rollup_minutes,
    rollup_oldest,
    rollup_parked,
    rollup_purge,
    rollup_sample,
    rollup_sampled,
    rollup_waiting,
    series,
    series_rest,
);
