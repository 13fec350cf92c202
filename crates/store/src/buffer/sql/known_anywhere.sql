select exists (select 1 from sf_messages where id = ?1)
  or exists (select 1 from tombstones where id = ?1)
  or exists (select 1 from operation_tracking where tracked_operation_id = ?1)
