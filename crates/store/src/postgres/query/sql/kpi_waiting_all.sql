-- $1 now, $2 stuck after milliseconds.
select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
  '' as site, count(*), count(*) filter (where waiting_since < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond') as stuck,
  min(waiting_since) as oldest
from due
