-- $1 now, $2 stuck after, in milliseconds. What waits in each tenant.
select
  tenant, count(*) as depth,
  count(*) filter (where waiting_since < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond') as stuck,
  min(waiting_since) as oldest
from due
group by tenant
