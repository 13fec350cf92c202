select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, coalesce(o.event_type, '') as event_type, o.entity_type,
  coalesce(o.entity_id, '') as entity_id, substr(coalesce(o.payload, ''), 1, 3145729) as payload,
  coalesce(o.schema_version, 1) as schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
  o.created_at, o.published_at, s.seq as schedule_seq
from schedules s
join outbox_messages o on o.seq = any (array[s.event_seq])
left join tenants t on t.tenant = s.tenant and t.deleted_at is null
where s.seq = any($1::bigint[])
