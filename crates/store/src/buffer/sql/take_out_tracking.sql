delete from operation_tracking where tracked_operation_id = ?1
