-- In the order of restore_acked and set_remembered_aside.
delete from tombstones where seq = ?1
returning seq, id, target, payload_json, max_retries, retry_interval_ms, created_at, origin_instance, execution_id,
  source_script, parent_execution_id, content_hash
