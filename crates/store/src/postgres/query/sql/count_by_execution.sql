-- $1 tenant, $2 execution, $3 how many at most. In the order of the index, so that it is the one that is read.
select count(*)
from (
  select 1
  from notifications
  where tenant = $1::integer and execution = $2::text
  order by seq desc
  limit $3::bigint
) counted
