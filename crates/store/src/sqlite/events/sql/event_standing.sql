select o.status, o.event_id, t.tenant
from outbox_messages o
left join tenants t on t.name = o.tenant and t.deleted_at is null
where o.seq = ?1
