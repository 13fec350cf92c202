-- An id whose row was purged is known as well. Names and values in one order with emit.
insert into outbox_messages (
  event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at, source,
  created_at
)
select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
where not exists (select 1 from spent_events where tenant = ?2 and event_id = ?1)
on conflict (tenant, event_id) do nothing
