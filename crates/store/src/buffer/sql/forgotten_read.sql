-- All that is kept of these, in the order of forgotten_write.
select seq, id, target, ended_as, ended_at, ended_by, created_at, max_retries, retry_interval_ms, origin_instance,
  execution_id, source_script, parent_execution_id, content_hash, op
from tombstones where seq in (select value from json_each(?1))
