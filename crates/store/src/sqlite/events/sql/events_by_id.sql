-- Whoever's it is, also of tenants there are not: one look at an index for each name that events have.
with recursive names (name) as (
  select min(o.tenant) from outbox_messages o
  union all
  select (select min(o.tenant) from outbox_messages o where o.tenant > names.name) from names where names.name is not null
)
select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, o.event_type, o.entity_type, o.entity_id, substr(o.payload, 1, 3145729) as payload,
  o.schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
  o.created_at, o.published_at
from names
join outbox_messages o on o.tenant = names.name and o.event_id = ?1
left join tenants t on t.name = o.tenant and t.deleted_at is null and coalesce(nullif(o.tenant_id, 0), t.tenant) = t.tenant
order by o.seq
limit ?2
