-- Of the newest ?2 that wait, those that failed before, by what went wrong.
select newest.code, l.provider, count(*), max(newest.at), newest.error
from (
  select code, lane, coalesce(last_attempt_at, waiting_since) as at, error
  from due
  where tenant = ?1
  order by seq desc
  limit ?2
) newest
left join lanes l on l.lane_id = newest.lane
where newest.code is not null
group by newest.code, l.provider
