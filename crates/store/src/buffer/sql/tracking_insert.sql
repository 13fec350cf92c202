-- `or fail`: see enqueue.sql.
insert or fail into operation_tracking (
  tracked_operation_id, kind, target_summary, status, created_at, updated_at,
  source_instance_id, source_script, source_node, target, content_hash, revision
) values (?1, ?2, ?3, 'Submitted', ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
