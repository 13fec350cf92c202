-- The attempt did not come to an end because the agent is stopping: not counted, due at once by the clock as it is now.
update sf_messages set attempting_at = null, due_at = ?3, last_attempt_at = ?3, queued_at = coalesce(queued_at, ?3), op = ?4
where seq = ?1 and status = 0 and attempt = ?2 and attempting_at is not null
returning *
