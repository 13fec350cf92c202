-- A bounded walk, newest first: the rows that pass are few, the history is long.
select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, coalesce(o.event_type, '') as event_type, o.entity_type,
  coalesce(o.entity_id, '') as entity_id, '' as payload,
  coalesce(o.schema_version, 1) as schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
  o.created_at, o.published_at
from tenants t
cross join lateral (
  select w.* from outbox_messages w where w.tenant = t.name and w.seq < $2::bigint order by w.seq desc limit $8::bigint
) o
where t.tenant = $1::integer and t.deleted_at is null and coalesce(o.tenant_id, t.tenant) = t.tenant
  and ($3::text is null or o.status = $3) and ($4::text is null or o.event_type = $4)
  and ($5::text is null or o.entity_id = $5) and ($6::timestamptz is null or o.created_at >= $6)
  and ($7::timestamptz is null or o.created_at < $7)
order by o.seq desc
limit $9::bigint
