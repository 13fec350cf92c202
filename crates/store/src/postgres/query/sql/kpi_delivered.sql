-- $1 now, $2 window in milliseconds, $3 tenant.
select '' as site, coalesce(sum(n), 0)::bigint as count
from stats
where bucket >= date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond', 'epoch')
  and tenant = $3::integer and what = 'Delivered'
