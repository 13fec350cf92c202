-- $1 now, $2 lane, $3 wait in milliseconds. Never shortens a pause.
update lanes
set not_before = greatest(not_before, coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $3::float8 * interval '1 millisecond')
where lane_id = $2::bigint
