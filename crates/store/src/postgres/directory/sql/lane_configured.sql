-- $1 now, $2 lane, $3 version, $4 whether the far end is asked otherwise than before: whom it wanted less from is not who asks
-- from now on. A hold that new settings may cure ends; an operator's stays until an operator ends it.
update lanes
set config_version = $3::bigint, configured_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  not_before = case when not $4::boolean then not_before end,
  hold_detail = case when hold_reason = 'operator' then hold_detail end,
  hold_by = case when hold_reason = 'operator' then hold_by end, hold_code = null,
  hold_since = case when hold_reason = 'operator' then hold_since end,
  hold_reason = case when hold_reason = 'operator' then hold_reason end,
  next_probe = null, probes = 0, probe_until = null
where lane_id = $2::bigint
