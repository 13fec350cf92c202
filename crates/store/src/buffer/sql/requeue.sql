update sf_messages set status = 0, retry_count = 0, last_attempt_at = null, interruptions = 0, parked_at = null,
  due_at = ?2, op = ?3
where id = ?1 and status = 2
returning *
