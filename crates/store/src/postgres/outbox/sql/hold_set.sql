-- $1 now, $2 lane, $3 reason, $4 detail, $5 milliseconds to the next probe, $6 the code of the failure, $7 by whom.
update lanes
set hold_reason = $3::text, hold_detail = $4::text, hold_since = coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  next_probe = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $5::float8 * interval '1 millisecond',
  hold_code = $6::text, hold_by = $7::text, probes = 0, probe_until = null
where lane_id = $2::bigint
