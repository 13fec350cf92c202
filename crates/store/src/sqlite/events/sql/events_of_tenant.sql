-- A bounded walk, newest first: the rows that pass are few, the history is long.
select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, o.event_type, o.entity_type, o.entity_id, '' as payload,
  o.schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
  o.created_at, o.published_at
from tenants t
join outbox_messages o on o.seq in (
  select w.seq from outbox_messages w where w.tenant = t.name and w.seq < ?2 order by w.seq desc limit ?8
)
where t.tenant = ?1 and t.deleted_at is null and coalesce(o.tenant_id, t.tenant) = t.tenant
  and (?3 is null or o.status = ?3) and (?4 is null or o.event_type = ?4) and (?5 is null or o.entity_id = ?5)
  and (?6 is null or o.created_at >= ?6) and (?7 is null or o.created_at < ?7)
order by o.seq desc
limit ?9
