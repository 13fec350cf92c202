-- $1 now, $2 lane, $3 reason, $4 detail, $5 milliseconds to the next probe, $6 the code of the failure,
-- $7 whether the probe asked anybody: the wait for the next one goes by those that did.
-- The hold goes on since when it began; what the probe learned is shown.
update lanes
set hold_reason = $3::text, hold_detail = $4::text, hold_code = $6::text,
  next_probe = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $5::float8 * interval '1 millisecond',
  probes = probes + $7::boolean::integer, probe_until = null
where lane_id = $2::bigint
