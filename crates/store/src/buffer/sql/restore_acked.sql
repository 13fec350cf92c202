-- Back to where they were, in their old order. Central recognises what it has.
insert into sf_messages (
  seq, id, category, target, payload_json, max_retries, retry_interval_ms, created_at,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, due_at, queued_at, op
)
select seq, id, 1, target, payload_json, max_retries, retry_interval_ms, created_at,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, ?1, ?1, ?2
from tombstones where payload_json is not null order by ended_at, seq limit ?3
on conflict do nothing
returning octet_length(payload_json)
