-- $1 now, $2 lane, $3 reason, $4 detail, $5 milliseconds to the next probe.
update lanes
set hold_reason = $3::text, hold_detail = $4::text, hold_since = coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  next_probe = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $5::float8 * interval '1 millisecond',
  probes = 0, probe_until = null
where lane_id = $2::bigint
