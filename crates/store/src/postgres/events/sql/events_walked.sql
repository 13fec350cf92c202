-- Where a walk over a tenant's events ends, if it did not come to the end.
select w.seq
from tenants t
cross join lateral (
  select o.seq from outbox_messages o where o.tenant = t.name and o.seq < $2::bigint order by o.seq desc limit 1 offset $3::bigint
) w
where t.tenant = $1::integer
