-- The columns of `put_message`, in its order.
select seq, id, category, target, payload_json, retry_count, max_retries, retry_interval_ms, created_at, last_attempt_at,
  status, last_error, origin_instance, execution_id, source_script, parent_execution_id, summary, content_hash, due_at,
  queued_at, attempt, attempting_at, interruptions, parked_at, op, told
from sf_messages where seq between ?1 and ?2 order by seq limit ?3
