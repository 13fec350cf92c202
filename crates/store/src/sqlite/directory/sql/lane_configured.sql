-- ?1 lane, ?2 version, ?3 now, ?4 whether the far end is asked otherwise than before: whom it wanted less from is not who asks
-- from now on. A hold that new settings may cure ends; an operator's stays until an operator ends it.
update lanes
set config_version = ?2, configured_at = ?3, not_before = iif(?4, null, not_before),
    hold_detail = iif(hold_reason = 'operator', hold_detail, null),
    hold_by = iif(hold_reason = 'operator', hold_by, null), hold_code = null,
    hold_since = iif(hold_reason = 'operator', hold_since, null),
    hold_reason = iif(hold_reason = 'operator', hold_reason, null),
    next_probe = null, probes = 0, probe_until = null
where lane_id = ?1
