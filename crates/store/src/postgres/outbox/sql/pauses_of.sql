-- $1 now, $2 lane. With the version they are of, also where there are none.
select lanes.pauses_version, pauses.key, pauses.until
from lanes
left join pauses
  on pauses.lane = lanes.lane_id and pauses.until > coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where lanes.lane_id = $2::bigint
