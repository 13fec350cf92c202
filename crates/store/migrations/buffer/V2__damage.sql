-- What was found damaged, and what became of it. Shown until somebody has acknowledged it.
create table if not exists damage (
  seq integer primary key autoincrement,
  at integer not null,
  what text not null,
  -- the file that was set aside; null where it is about rows of this one
  file text,
  -- messages that were brought back, and those that could not be read
  recovered integer not null default 0,
  lost integer not null default 0,
  acknowledged_at integer,
  acknowledged_by text
);
create index if not exists idx_damage_open on damage (seq) where acknowledged_at is null;

-- Rows of sf_messages that are no messages any more, as they were found: no types and no checks.
create table if not exists unreadable (
  seq integer primary key,
  set_aside_at integer not null,
  why text not null,
  id, category, target, payload_json, retry_count, max_retries, created_at, status, last_error,
  origin_instance, source_script, execution_id, parent_execution_id
);

-- The event log also tells of the file itself: other words than before, and no category. The text of the declaration
-- is changed and the table is not written anew: the disk of a site may be full when a new version starts.
pragma writable_schema = on;
update sqlite_schema set sql = replace(replace(sql,
    ' check (what in (''Queued'', ''Delivered'', ''Retried'', ''Parked'', ''Retry'', ''Discard''))', ''),
    'category integer not null', 'category integer')
  where type = 'table' and name = 'site_events';
pragma writable_schema = reset;
