-- $1 now, $2 lane, $3 node, $4 for how long, in milliseconds.
update lanes
set owner = $3::text,
  owner_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond'
where lane_id = $2::bigint
  and (owner is null or owner = $3::text or owner_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
