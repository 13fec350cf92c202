-- $1 now, $2 lane, $3 node, $4 for how long, in milliseconds. Answers with who had it before.
with before as (
  select lane_id, owner from lanes where lane_id = $2::bigint for update
)
update lanes
set owner = $3::text,
  owner_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond'
from before
where lanes.lane_id = before.lane_id
  and (lanes.owner is null or lanes.owner = $3::text
    or lanes.owner_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
returning before.owner
