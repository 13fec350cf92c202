-- As it was, but free: an attempt that was under way has ended with its process. Behind everything that waits.
insert into sf_messages (
  id, category, target, payload_json, retry_count, max_retries, retry_interval_ms, created_at, last_attempt_at, status,
  last_error, origin_instance, execution_id, source_script, parent_execution_id, summary, content_hash, attempt,
  interruptions, parked_at, due_at, queued_at, op
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?21, ?22)
