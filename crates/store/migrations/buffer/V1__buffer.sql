-- A site's own file. Times are milliseconds since 1970 in UTC, ids are GUIDs as text with hyphens.
-- Only ever added to, and every step may be repeated: the file on a site outlives many versions of the program.

create table if not exists meta (
  key text primary key,
  value text not null
);

-- What waits or is parked. A row leaves when it is delivered or discarded.
create table if not exists sf_messages (
  -- the order of acceptance; never used again (autoincrement)
  seq integer primary key autoincrement,
  id text not null unique,
  -- 0 ExternalSystem, 1 Notification, 2 CachedDbWrite
  category integer not null check (category in (0, 1, 2)),
  target text not null,
  payload_json text not null,
  -- tries of the sweep that failed; the immediate attempt does not count
  retry_count integer not null default 0,
  -- 0: no limit
  max_retries integer not null default 50 check (max_retries >= 0),
  retry_interval_ms integer not null default 30000 check (retry_interval_ms > 0),
  created_at integer not null,
  last_attempt_at integer,
  -- 0 Pending, 2 Parked
  status integer not null default 0 check (status in (0, 2)),
  last_error text,
  origin_instance text,
  execution_id text,
  source_script text,
  parent_execution_id text,
  -- what is asked of the target in a few words, without secrets
  summary text,
  content_hash integer not null,
  due_at integer not null,
  -- null during the immediate attempt: accepted, but not yet waiting for another one
  queued_at integer,
  -- attempts begun in all; what comes back from one names its number, so that a lost race is found out
  attempt integer not null default 0,
  -- set before the network call, cleared when its result is written
  attempting_at integer,
  -- attempts in a row that ended with the process
  interruptions integer not null default 0,
  parked_at integer,
  -- the number of the last change to this row, over the whole file
  op integer not null,
  check ((status = 2) = (parked_at is not null)),
  check (status = 0 or attempting_at is null)
);
create index if not exists idx_sf_messages_status on sf_messages (status);
create index if not exists idx_sf_messages_category on sf_messages (category);
-- What the sweep looks for. Notifications without a limit are the forwarder's and are never "due".
create index if not exists idx_sf_messages_due on sf_messages (category, target, due_at)
  where status = 0 and attempting_at is null and (category <> 1 or max_retries > 0);
create index if not exists idx_sf_messages_attempting on sf_messages (seq) where attempting_at is not null;

-- Notifications that have left. One keeps its content here until it is certain that central still has it; after
-- that only what is worth knowing stays for a while. Calls and writes have their row in operation_tracking instead.
create table if not exists tombstones (
  seq integer primary key,
  id text not null,
  target text not null,
  ended_as text not null check (ended_as in ('Delivered', 'Discarded')),
  ended_at integer not null,
  ended_by text,
  created_at integer not null,
  payload_json text,
  max_retries integer not null,
  retry_interval_ms integer not null,
  origin_instance text,
  execution_id text,
  source_script text,
  parent_execution_id text,
  content_hash integer not null,
  op integer not null
);
create index if not exists idx_tombstones_id on tombstones (id);
create index if not exists idx_tombstones_ended on tombstones (ended_at);
create index if not exists idx_tombstones_remembered on tombstones (ended_at) where payload_json is not null;

create table if not exists operation_tracking (
  tracked_operation_id text primary key,
  kind text not null,
  target_summary text,
  status text not null check (status in ('Submitted', 'Retrying', 'Delivered', 'Parked', 'Failed', 'Discarded')),
  retry_count integer not null default 0,
  -- attempts begun in all, the immediate one and those that were cut short among them
  attempts integer not null default 0,
  last_error text,
  http_status integer,
  created_at integer not null,
  updated_at integer not null,
  -- null while somebody may still act on it; a parked one can be sent round again
  terminal_at integer,
  source_instance_id text,
  source_script text,
  source_node text,
  target text not null,
  content_hash integer not null,
  revision integer not null,
  check ((terminal_at is not null) = (status in ('Delivered', 'Failed', 'Discarded')))
) without rowid;
create index if not exists ix_operation_tracking_status_updated on operation_tracking (status, updated_at);
create index if not exists ix_operation_tracking_terminal on operation_tracking (terminal_at) where terminal_at is not null;

create table if not exists site_events (
  seq integer primary key autoincrement,
  at integer not null,
  what text not null check (what in ('Queued', 'Delivered', 'Retried', 'Parked', 'Retry', 'Discard')),
  -- the message; null for a batch
  message_id text,
  category integer not null,
  target text not null,
  -- how many messages it is about
  n integer not null default 1,
  actor text,
  detail text
);
create index if not exists idx_site_events_at on site_events (at);

-- News for central, in order, until central has it.
create table if not exists telemetry (
  seq integer primary key autoincrement,
  body_json text not null
);
