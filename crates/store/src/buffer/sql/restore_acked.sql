-- Back to where it was, in its old order. Central recognises what it has. ?1 to ?12 are what unbury returned.
insert into sf_messages (
  seq, id, category, target, payload_json, max_retries, retry_interval_ms, created_at,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, due_at, queued_at, op
) values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13, ?14)
on conflict do nothing
