-- A hold that new settings may cure ends; an operator's stays until an operator ends it.
update lanes
set config_version = ?2,
    hold_detail = iif(hold_reason = 'operator', hold_detail, null),
    hold_by = iif(hold_reason = 'operator', hold_by, null), hold_code = null,
    hold_since = iif(hold_reason = 'operator', hold_since, null),
    hold_reason = iif(hold_reason = 'operator', hold_reason, null),
    next_probe = null, probes = 0, probe_until = null
where lane_id = ?1
