update sf_messages set status = 2, retry_count = retry_count + ?3, last_error = ?4, parked_at = ?5, attempting_at = null,
  queued_at = coalesce(queued_at, ?5), op = ?6, told = (category = 1)
where seq = ?1 and status = 0 and attempt = ?2 and attempting_at is not null
returning *
