-- The columns of `put_tracking`, in its order.
select tracked_operation_id, kind, target_summary, status, retry_count, attempts, last_error, http_status, created_at, updated_at,
  terminal_at, source_instance_id, source_script, source_node, target, content_hash, revision, actor
from operation_tracking where tracked_operation_id between ?1 and ?2 order by tracked_operation_id limit ?3
