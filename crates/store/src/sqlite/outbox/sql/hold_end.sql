update lanes
set hold_reason = null, hold_detail = null, hold_since = null, hold_by = null, hold_code = null,
  next_probe = null, probes = 0, probe_until = null
where lane_id = ?1
