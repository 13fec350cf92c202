insert into tombstones (
  seq, id, target, ended_as, ended_at, ended_by, created_at, max_retries, retry_interval_ms,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, op, summary, last_error
)
select seq, id, target, 'Discarded', ?2, ?3, created_at, max_retries, retry_interval_ms,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, ?4, ?6, last_error
from sf_messages where id = ?1 and category = 1 and status = ?5 and attempting_at is null
