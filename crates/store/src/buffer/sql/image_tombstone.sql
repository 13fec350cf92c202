-- The columns of `put_tombstone`, in its order.
select seq, id, target, ended_as, ended_at, ended_by, created_at, payload_json, max_retries, retry_interval_ms, origin_instance,
  execution_id, source_script, parent_execution_id, content_hash, op, summary, last_error
from tombstones where seq between ?1 and ?2 order by seq limit ?3
