-- Where emit_event tells nodes of an event, inside the producer's own transaction. Nowhere, unless nodes ask for it
-- (`events.notify`): at commit NOTIFY takes a lock of the whole database, which is the producer's to wait for.
create function events_channel() returns text
language sql stable security definer set search_path from current as $$
  select value from meta where key = 'events_channel'
$$;

create or replace function emit_event(
  tenant text, topic text, event_type text, entity_id text, payload jsonb,
  correlation_id text default null, schema_version integer default 1, due_at timestamptz default null,
  event_id uuid default null
) returns uuid
language plpgsql set search_path from current as $$
declare
  new_id uuid := coalesce($9, gen_random_uuid());
  hears text := events_channel();
begin
  insert into outbox_messages (
    event_id, tenant, topic, event_type, entity_id, payload, correlation_id, schema_version, due_at
  )
  values (new_id, coalesce($1, 'default'), $2, coalesce($3, ''), coalesce($4, ''), coalesce($5::text, '{}'), $6, coalesce($7, 1), $8)
  on conflict do nothing;
  if hears is not null then
    perform pg_notify(hears, 'application events');
  end if;
  return new_id;
end
$$;
