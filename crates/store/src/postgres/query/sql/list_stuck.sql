-- $1 now, $2 tenant, $3 stuck for milliseconds, $4 and $5 the last place looked at, $6 how many. The last to begin waiting first.
select seq, waiting_since
from due
where tenant = $2::integer
  and waiting_since < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $3::float8 * interval '1 millisecond'
  and (waiting_since, seq) < ($4::timestamptz, $5::bigint)
order by waiting_since desc, seq desc
limit $6::bigint
