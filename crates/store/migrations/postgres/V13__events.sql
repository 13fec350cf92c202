-- What applications tell: written in their own transactions, by emit_event or by a plain INSERT. Nothing in here may
-- refuse what they write: a bad event must not roll back somebody's booking. So the payload is text, the tenant is a
-- name that may not exist, and what is missing is found out later.
create table outbox_messages (
  seq bigint generated always as identity primary key,
  -- Never a serial: a source restored from a backup would give it out twice.
  event_id uuid not null default gen_random_uuid(),
  tenant text not null default 'default',
  topic text,
  event_type text default '',
  entity_type text,
  entity_id text default '',
  payload text default '{}',
  schema_version integer default 1,
  correlation_id text,
  due_at timestamptz,
  status text not null default 'Pending',
  -- New ones are due at once, whatever anybody's clock says.
  next_attempt_at timestamptz not null default '-infinity',
  attempts integer not null default 0,
  last_error text,
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  published_at timestamptz,
  -- The event source it was read from.
  source text not null default '',
  -- The tenant that had the name when the event was looked at; 0 where there was none. Names are used again.
  tenant_id integer,
  unique (tenant, event_id)
);
create index outbox_messages_due on outbox_messages (next_attempt_at, seq) where status = 'Pending';
create index outbox_messages_by_tenant on outbox_messages (tenant, seq);
-- Only what may be purged.
create index outbox_messages_ended on outbox_messages (created_at) where status <> 'Pending';

-- One per event. Pending until its time; what a published one came to is read from the notifications it names.
create table schedules (
  seq bigint generated always as identity primary key,
  tenant integer not null,
  event_id uuid not null,
  event_seq bigint not null,
  event_type text not null,
  entity_type text not null,
  entity_id text not null,
  status text not null check (status in ('Pending','Published','Failed','Cancelled')),
  due_at timestamptz not null,
  next_look_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  messages text not null default '[]',
  token bigint,
  leased_until timestamptz,
  created_at timestamptz not null,
  published_at timestamptz,
  unique (tenant, event_id),
  check (status <> 'Pending' or next_look_at is not null)
);
create index schedules_due on schedules (next_look_at, seq) where status = 'Pending';
create index schedules_by_entity on schedules (tenant, entity_type, entity_id, seq);
create index schedules_by_tenant on schedules (tenant, seq);
create index schedules_by_event on schedules (event_seq);

create table event_types (
  tenant integer not null references tenants,
  name text not null,
  definition text not null,
  version bigint not null,
  updated_at timestamptz not null,
  primary key (tenant, name)
);

-- Who reads an outbox: one node at a time.
create table event_readers (
  name text primary key,
  owner text not null,
  owner_until timestamptz not null
);

-- Ids of events that were purged.
create table spent_events (
  tenant text not null,
  event_id uuid not null,
  at timestamptz not null,
  primary key (tenant, event_id)
);

-- In this database a role emits only for the tenants granted to it (`waypost event grant`). The owner of the tables, who
-- is Waypost itself, is not asked.
create table event_grants (
  role text not null,
  tenant text not null,
  primary key (role, tenant)
);

create function may_emit(for_tenant text) returns boolean
language sql stable security definer set search_path from current as $$
  -- A role that was dropped grants nothing and is no error.
  select exists (
    select 1 from event_grants g
    join pg_catalog.pg_roles r on r.rolname = g.role
    where g.tenant = for_tenant and pg_catalog.pg_has_role(session_user, r.oid, 'member')
  )
$$;

alter table outbox_messages enable row level security;
create policy outbox_messages_emit on outbox_messages for insert with check (may_emit(tenant));
-- What an insert returns is read.
create policy outbox_messages_own on outbox_messages for select using (may_emit(tenant));

create function grant_emit(to_role text, for_tenant text) returns void
language plpgsql set search_path from current as $$
begin
  execute format('grant usage on schema %I to %I', current_schema(), to_role);
  execute format(
    'grant insert (event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at) '
    'on outbox_messages to %I', to_role
  );
  execute format('grant select (event_id, tenant) on outbox_messages to %I', to_role);
  insert into event_grants (role, tenant) values (to_role, for_tenant) on conflict do nothing;
end
$$;

-- For producers, inside their own transactions. The payload is jsonb, so it is JSON; an event id makes a repeat harmless.
create function emit_event(
  tenant text, topic text, event_type text, entity_id text, payload jsonb,
  correlation_id text default null, schema_version integer default 1, due_at timestamptz default null,
  event_id uuid default null
) returns uuid
language plpgsql set search_path from current as $$
declare
  new_id uuid := coalesce($9, gen_random_uuid());
begin
  insert into outbox_messages (
    event_id, tenant, topic, event_type, entity_id, payload, correlation_id, schema_version, due_at
  )
  values (new_id, coalesce($1, 'default'), $2, coalesce($3, ''), coalesce($4, ''), coalesce($5::text, '{}'), $6, coalesce($7, 1), $8)
  on conflict do nothing;
  return new_id;
end
$$;
revoke execute on function grant_emit(text, text) from public;
