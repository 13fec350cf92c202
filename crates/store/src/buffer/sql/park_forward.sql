update sf_messages set status = 2, last_error = ?2, last_attempt_at = ?3, parked_at = ?3, attempting_at = null, op = ?4,
  told = 1
where seq = ?1 and category = 1 and status = 0
returning *
