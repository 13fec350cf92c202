-- The outbox in an application's own database. Waypost reads what is not taken and marks it; nothing else is written here.
-- Nothing refuses what an application writes: a bad event must not roll back somebody's booking.
create schema if not exists waypost;
create table if not exists waypost.outbox_messages (
  seq bigint generated always as identity primary key,
  event_id uuid not null default gen_random_uuid(),
  tenant text default 'default',
  topic text,
  event_type text,
  entity_type text,
  entity_id text,
  payload text default '{}',
  schema_version integer default 1,
  correlation_id text,
  due_at timestamptz,
  created_at timestamptz not null default now(),
  taken_at timestamptz,
  unique (tenant, event_id)
);
create index if not exists outbox_messages_open on waypost.outbox_messages (seq) where taken_at is null;
create index if not exists outbox_messages_taken on waypost.outbox_messages (taken_at) where taken_at is not null;
create or replace function waypost.emit_event(
  tenant text, topic text, event_type text, entity_id text, payload jsonb,
  correlation_id text default null, schema_version integer default 1, due_at timestamptz default null,
  event_id uuid default null
) returns uuid language sql as $$
  with given as (
    select coalesce($9, gen_random_uuid()) as id
  ), written as (
    insert into waypost.outbox_messages (
      event_id, tenant, topic, event_type, entity_id, payload, correlation_id, schema_version, due_at
    )
    select given.id, $1, $2, $3, $4, $5::text, $6, $7, $8 from given
    -- An id that is there already is that event.
    on conflict do nothing
  )
  select given.id from given
$$;
