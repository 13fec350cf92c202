-- $1 lane, $2 version. A hold that new settings may cure ends; an operator's stays until an operator ends it.
update lanes
set config_version = $2::bigint,
  hold_detail = case when hold_reason = 'operator' then hold_detail end,
  hold_by = case when hold_reason = 'operator' then hold_by end, hold_code = null,
  hold_since = case when hold_reason = 'operator' then hold_since end,
  hold_reason = case when hold_reason = 'operator' then hold_reason end,
  next_probe = null, probes = 0, probe_until = null
where lane_id = $1::bigint
