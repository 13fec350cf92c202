select o.status, o.event_id, t.tenant
from outbox_messages o
-- Once one was looked at it stays with the tenant that had the name then.
left join tenants t on t.name = o.tenant and t.deleted_at is null and coalesce(nullif(o.tenant_id, 0), t.tenant) = t.tenant
where o.seq = $1::bigint
for update of o
