update lanes
set hold_reason = null, hold_detail = null, hold_since = null, next_probe = null, probes = 0, probe_until = null
where lane_id = ?1
