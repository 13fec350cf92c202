-- `or fail`: where there is a log of changes SQLite would set aside every page that the statement touches, to undo it alone. Whatever fails
-- here undoes the whole transaction.
insert or fail into sf_messages (
  id, category, target, payload_json, max_retries, retry_interval_ms, created_at, due_at, last_attempt_at, attempting_at,
  origin_instance, execution_id, source_script, parent_execution_id, summary, content_hash, queued_at, attempt, op
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
