-- The hold goes on since when it began; what the probe learned is shown.
update lanes
set hold_reason = ?2, hold_detail = ?3, next_probe = ?4, hold_code = ?5, probes = probes + 1, probe_until = null
where lane_id = ?1
