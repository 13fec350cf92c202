insert into tombstones (
  seq, id, target, ended_as, ended_at, created_at, payload_json, max_retries, retry_interval_ms,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, op
)
select seq, id, target, 'Delivered', ?2, created_at, payload_json, max_retries, retry_interval_ms,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, ?3
from sf_messages where seq = ?1 and category = 1 and status = 0
