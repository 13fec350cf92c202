-- The outbox in an application's own file. Waypost reads what is not taken and marks it; nothing else is written here.
create table if not exists waypost_outbox (
  seq integer primary key autoincrement,
  event_id text not null unique,
  tenant text default 'default',
  topic text,
  event_type text,
  entity_type text,
  entity_id text,
  payload text default '{}',
  schema_version integer default 1,
  correlation_id text,
  -- milliseconds since 1970
  due_at integer,
  created_at integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
  taken_at integer
);
create index if not exists waypost_outbox_open on waypost_outbox (seq) where taken_at is null;
create index if not exists waypost_outbox_taken on waypost_outbox (taken_at) where taken_at is not null;
