-- ?6 whether the probe asked anybody: the wait for the next one goes by those that did.
-- The hold goes on since when it began; what the probe learned is shown.
update lanes
set hold_reason = ?2, hold_detail = ?3, next_probe = ?4, hold_code = ?5, probes = probes + ?6, probe_until = null
where lane_id = ?1
