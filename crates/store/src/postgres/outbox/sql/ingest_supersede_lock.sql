-- $1 tenants, $2 supersede keys. Held to the end of the transaction: of two nodes that replace the same rows, the
-- second one sees what the first one put in their place. Sorted, so that they cannot deadlock.
select pg_advisory_xact_lock(key)
from (
  select distinct hashtextextended(given.key, given.tenant) as key
  from unnest($1::integer[], $2::text[]) as given (tenant, key)
  order by 1
) sorted
