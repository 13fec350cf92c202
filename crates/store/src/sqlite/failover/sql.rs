//! The statements of this job, named like their files.

statements!(
    failing_lane,
    failing_lanes,
    failover_channels,
    failover_put,
    lane_provider,
    lend_probe_row,
    movable_rows,
    move_recipients,
    move_row,
    sibling_lanes,
);
