-- Without payloads: a page of large ones would be a page of megabytes.
select seq, id, category, target, '' as payload_json, summary, retry_count, max_retries, retry_interval_ms, created_at,
  last_attempt_at, status, last_error, origin_instance, source_script, execution_id, parent_execution_id, due_at,
  queued_at, attempt, interruptions, parked_at
from sf_messages where status = 0 and seq > ?1 and (?2 is null or category = ?2) order by seq limit ?3
