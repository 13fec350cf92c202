insert or replace into tombstones (
  seq, id, target, ended_as, ended_at, ended_by, created_at, payload_json, max_retries, retry_interval_ms, origin_instance,
  execution_id, source_script, parent_execution_id, content_hash, op, summary, last_error
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
