-- $1 now, $2 lane.
update lanes
set not_before = null,
  next_probe = case when hold_reason is null then next_probe else coalesce($1::timestamptz, date_trunc('milliseconds', now())) end
where lane_id = $2::bigint
