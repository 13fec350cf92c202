-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
-- Once one was looked at it stays with the tenant that had the name then.
select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, o.event_type, o.entity_type, o.entity_id, substr(o.payload, 1, 3145729) as payload,
  o.schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
  o.created_at, o.published_at
from outbox_messages o
left join tenants t on t.name = o.tenant and t.deleted_at is null and coalesce(nullif(o.tenant_id, 0), t.tenant) = t.tenant
where o.status = 'Pending' and o.next_attempt_at <= ?1 and (o.next_attempt_at, o.seq) > (?2, ?3)
order by o.next_attempt_at, o.seq
limit ?4
