-- In the order of recover_message.
select id, category, target, payload_json, retry_count, max_retries, retry_interval_ms, created_at, last_attempt_at,
  status, last_error, origin_instance, execution_id, source_script, parent_execution_id, summary, content_hash, attempt,
  interruptions, parked_at
from sf_messages where seq = ?1
