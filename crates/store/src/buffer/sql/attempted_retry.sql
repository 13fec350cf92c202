-- Names the attempt it is the result of; whoever lost the row changes nothing. The time of the attempt is that of the clock
-- by which the next one is due: how long it waits is the difference, also where the clock was set meanwhile.
update sf_messages set retry_count = retry_count + ?3, last_error = ?4, due_at = ?5, attempting_at = null,
  last_attempt_at = ?7, interruptions = case when ?6 then interruptions + 1 else 0 end,
  queued_at = coalesce(queued_at, ?7), op = ?8
where seq = ?1 and status = 0 and attempt = ?2 and attempting_at is not null
returning *
