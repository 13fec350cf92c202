select exists (select 1 from tombstones where id = ?1 and ended_as = 'Discarded')
  or exists (select 1 from operation_tracking where tracked_operation_id = ?1 and terminal_at is not null)
