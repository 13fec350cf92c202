-- Only what has ended: the column is empty for everything else.
delete from operation_tracking where tracked_operation_id in (
  select tracked_operation_id from operation_tracking where terminal_at < ?1 order by terminal_at limit ?2)
