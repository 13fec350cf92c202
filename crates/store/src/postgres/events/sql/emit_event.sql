-- $1 now; then one array per column. An id whose row was purged is known as well.
insert into outbox_messages (
  event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at, source,
  created_at
)
select given.*, coalesce($1::timestamptz, date_trunc('milliseconds', now()))
from unnest(
  $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[], $10::text[],
  $11::timestamptz[], $12::text[]
) as given (
  event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at, source
)
where (select spent.at from spent_events spent where spent.tenant = given.tenant and spent.event_id = given.event_id) is null
on conflict (tenant, event_id) do nothing
returning tenant, event_id
