select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, o.event_type, o.entity_type, o.entity_id, substr(o.payload, 1, 3145729) as payload,
  o.schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
  o.created_at, o.published_at
from outbox_messages o
join tenants t on t.name = o.tenant and t.deleted_at is null
where t.tenant = ?1 and o.event_id = ?2 and coalesce(o.tenant_id, t.tenant) = t.tenant
