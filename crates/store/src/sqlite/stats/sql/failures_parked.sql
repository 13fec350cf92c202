-- The newest ?2 that are parked, by what went wrong.
select newest.code, l.provider, count(*), max(newest.at), newest.error
from (
  select code, lane, at, error
  from outcome
  where tenant = ?1 and status = 'Parked'
  order by seq desc
  limit ?2
) newest
left join lanes l on l.lane_id = newest.lane
group by newest.code, l.provider
