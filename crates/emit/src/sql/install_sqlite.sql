-- The outbox in an application's own file. Waypost reads what is not taken and marks it; nothing else is written here.
create table if not exists waypost_outbox (
  seq integer primary key autoincrement,
  -- SQLite makes no UUIDs, so 16 random bytes are spelt as one, also where null was given.
  event_id text not null on conflict replace default (lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
    || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
  )),
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
  -- In words that the oldest SQLite of any language knows: one that does not would refuse the row.
  created_at integer not null default (cast((julianday('now') - 2440587.5) * 86400000.0 as integer)),
  taken_at integer,
  unique (tenant, event_id)
);
create index if not exists waypost_outbox_open on waypost_outbox (seq) where taken_at is null;
create index if not exists waypost_outbox_taken on waypost_outbox (taken_at) where taken_at is not null;
