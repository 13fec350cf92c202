-- $1 tenant, $2 from, $3 and $4 the place to begin at, $5 how many at most. In the order of the index, so that it is the one
-- that is read.
select count(*)
from (
  select 1
  from notifications
  where tenant = $1::integer and created_at >= $2::timestamptz and (created_at, seq) < ($3::timestamptz, $4::bigint)
  order by created_at desc, seq desc
  limit $5::bigint
) counted
