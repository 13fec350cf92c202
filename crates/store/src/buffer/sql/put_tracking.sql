insert or replace into operation_tracking (
  tracked_operation_id, kind, target_summary, status, retry_count, attempts, last_error, http_status, created_at, updated_at,
  terminal_at, source_instance_id, source_script, source_node, target, content_hash, revision, actor
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
