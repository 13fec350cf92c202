update operation_tracking set status = ?2, retry_count = ?3, last_error = ?4, http_status = coalesce(?5, http_status),
  updated_at = ?6, terminal_at = ?7, revision = ?8, attempts = ?9,
  actor = coalesce(?10, actor)
where tracked_operation_id = ?1
