insert into unreadable (
  seq, set_aside_at, why, id, category, target, payload_json, retry_count, max_retries, created_at, status, last_error,
  origin_instance, source_script, execution_id, parent_execution_id
)
select seq, ?2, ?3, id, category, target, payload_json, retry_count, max_retries, created_at, status, last_error,
  origin_instance, source_script, execution_id, parent_execution_id
from sf_messages where seq = ?1
on conflict do nothing
