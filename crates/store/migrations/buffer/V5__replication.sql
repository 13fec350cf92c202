-- Which rows have changed, in order, for the other machine of the site. Written by triggers that exist only while there
-- is another machine; keys, never content. Trimmed as far as the other one has it, and dropped when there is no room.
create table if not exists replication_log (
  -- never given twice (autoincrement)
  number integer primary key autoincrement,
  -- 1 sf_messages, 2 tombstones, 3 operation_tracking, 4 site_events, 5 telemetry, 6 meta; 0 of no table
  tbl integer not null,
  key not null
);
