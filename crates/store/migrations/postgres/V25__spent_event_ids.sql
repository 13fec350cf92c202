-- An id whose row was purged is known to emit_event as well: the same event again is that event. Producers may not read what is
-- purged, so they ask this.
create function is_spent_event(of_tenant text, id uuid) returns boolean
language sql stable security definer set search_path from current as $$
  select exists (select 1 from spent_events s where s.tenant = of_tenant and s.event_id = id)
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
  -- Nobody had an id that was made just now.
  if $9 is not null and is_spent_event(coalesce($1, 'default'), $9) then
    return $9;
  end if;
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
