-- $1 tenant, $2 how many are looked at. Of the newest that wait, those that failed before, by what went wrong.
select newest.code, l.provider, count(*) as count, max(newest.at) as at, (array_agg(newest.error order by newest.at desc))[1] as error
from (
  select code, lane, coalesce(last_attempt_at, waiting_since) as at, error
  from due
  where tenant = $1::integer
  order by seq desc
  limit $2::bigint
) newest
left join lanes l on l.lane_id = newest.lane
where newest.code is not null
group by newest.code, l.provider
