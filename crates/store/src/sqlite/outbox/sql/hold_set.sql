update lanes
set hold_reason = ?2, hold_detail = ?3, hold_since = ?4, next_probe = ?5, hold_code = ?6, hold_by = ?7, probes = 0,
  probe_until = null
where lane_id = ?1
