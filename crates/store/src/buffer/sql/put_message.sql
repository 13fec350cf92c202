insert or replace into sf_messages (
  seq, id, category, target, payload_json, retry_count, max_retries, retry_interval_ms, created_at, last_attempt_at,
  status, last_error, origin_instance, execution_id, source_script, parent_execution_id, summary, content_hash, due_at,
  queued_at, attempt, attempting_at, interruptions, parked_at, op, told
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
  ?25, ?26)
