-- Everything is text, so that any driver can bind it. What is null takes the column's default. An id that is there already is that
-- event, and no error: nobody's transaction fails for it.
with given as (
  select coalesce($1::text::uuid, gen_random_uuid()) as id
), written as (
  insert into waypost.outbox_messages (
    event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at
  )
  select given.id, coalesce($2::text, 'default'), $3::text, $4::text, $5::text, $6::text, $7::text, coalesce($8::integer, 1), $9::text,
    to_timestamp($10::bigint / 1000.0)
  from given
  on conflict do nothing
)
select given.id::text from given
