-- After the clock was set back. The longest wait a row can have been given is its interval, or what its target asked for
-- at its last attempt, which is ?2 at most; an attempt that lies ahead was made by the clock as it was. Notifications without a
-- limit are never due: walking over a long backlog of them would fill the writer's memory at every start.
update sf_messages indexed by idx_sf_messages_due set
  due_at = ?1 + max(retry_interval_ms, min(coalesce(due_at - last_attempt_at, 0), ?2)),
  last_attempt_at = min(last_attempt_at, ?1)
where status = 0 and attempting_at is null and (category <> 1 or max_retries > 0)
  and due_at > ?1 + max(retry_interval_ms, min(coalesce(due_at - last_attempt_at, 0), ?2))
