-- Once, when the file is opened.
select max(
  coalesce((select max(op) from sf_messages), 0),
  coalesce((select max(op) from tombstones), 0),
  coalesce((select max(revision) from operation_tracking), 0),
  coalesce((select cast(value as integer) from meta where key = 'op'), 0))
