-- After the clock was set back. The longest wait a row can have been given is its interval, or what its target asked for
-- at its last attempt, which is ?2 at most; an attempt that lies ahead was made by the clock as it was.
update sf_messages set
  due_at = ?1 + max(retry_interval_ms, min(coalesce(due_at - last_attempt_at, 0), ?2)),
  last_attempt_at = min(last_attempt_at, ?1)
where status = 0 and attempting_at is null
  and due_at > ?1 + max(retry_interval_ms, min(coalesce(due_at - last_attempt_at, 0), ?2))
