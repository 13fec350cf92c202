-- $1 now, $2 the lane that has no row to probe with, $3 how many rows of each other lane to look at.
update due set lane = $2::bigint
where seq = (
  select e.seq
  from lanes home
  join lanes l on l.tenant = home.tenant and l.channel = home.channel and l.lane_id <> home.lane_id
  cross join lateral (
    select d.* from due d
    where d.lane = l.lane_id and d.due_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
    order by d.due_at, d.seq
    limit $3::bigint
  ) e
  where home.lane_id = $2::bigint
    and e.token is null and e.claims = 0 and not e.in_doubt and not e.superseded and e.attempts = 0
    and $2::bigint = any (e.left_lanes)
  order by e.due_at, e.seq
  limit 1
)
-- It may have been claimed since it was looked at.
and token is null and claims = 0
