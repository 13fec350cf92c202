-- The SQLite twin of migrations/postgres. Applications never write this file; the shape is the same all the same.
create table outbox_messages (
  seq integer primary key autoincrement,
  event_id blob not null,
  tenant text not null default 'default',
  topic text,
  event_type text not null default '',
  entity_type text,
  entity_id text not null default '',
  payload text not null default '{}',
  schema_version integer not null default 1,
  correlation_id text,
  due_at integer,
  status text not null default 'Pending',
  next_attempt_at integer not null default 0,
  attempts integer not null default 0,
  last_error text,
  created_at integer not null,
  published_at integer,
  source text not null default '',
  tenant_id integer,
  unique (tenant, event_id)
);
create index outbox_messages_due on outbox_messages (next_attempt_at, seq) where status = 'Pending';
create index outbox_messages_by_tenant on outbox_messages (tenant, seq);
-- Only what may be purged.
create index outbox_messages_ended on outbox_messages (created_at) where status <> 'Pending';

create table schedules (
  seq integer primary key autoincrement,
  tenant integer not null,
  event_id blob not null,
  event_seq integer not null,
  event_type text not null,
  entity_type text not null,
  entity_id text not null,
  status text not null check (status in ('Pending','Published','Failed','Cancelled')),
  due_at integer not null,
  next_look_at integer,
  attempts integer not null default 0,
  last_error text,
  messages text not null default '[]',
  token integer,
  leased_until integer,
  created_at integer not null,
  published_at integer,
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
  version integer not null,
  updated_at integer not null,
  primary key (tenant, name)
);

create table event_readers (
  name text primary key,
  owner text not null,
  owner_until integer not null
);

create table spent_events (
  tenant text not null,
  event_id blob not null,
  at integer not null,
  primary key (tenant, event_id)
) without rowid;

-- An event goes with its schedule, and its id stays spent.
create trigger outbox_messages_gone after delete on outbox_messages begin
  insert or ignore into spent_events (tenant, event_id, at) values (old.tenant, old.event_id, old.created_at);
  delete from schedules where event_seq = old.seq;
end;
