-- Everything is text, so that any driver can bind it. What is null takes the column's default.
insert into waypost.outbox_messages (
  event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at
)
values (
  coalesce($1::text::uuid, gen_random_uuid()), coalesce($2::text, 'default'), $3::text, $4::text, $5::text, $6::text, $7::text,
  coalesce($8::integer, 1), $9::text, to_timestamp($10::bigint / 1000.0)
)
returning event_id::text
