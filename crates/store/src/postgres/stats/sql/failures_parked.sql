-- $1 tenant, $2 how many are looked at. The newest that are parked, by what went wrong.
select newest.code, l.provider, count(*) as count, max(newest.at) as at, (array_agg(newest.error order by newest.at desc))[1] as error
from (
  select code, lane, at, error
  from outcome
  where tenant = $1::integer and status = 'Parked'
  order by seq desc
  limit $2::bigint
) newest
left join lanes l on l.lane_id = newest.lane
group by newest.code, l.provider
