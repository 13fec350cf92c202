-- The same as bury_acked, of rows whose content is not kept.
insert into tombstones (
  seq, id, target, ended_as, ended_at, created_at, max_retries, retry_interval_ms,
  origin_instance, execution_id, source_script, parent_execution_id, content_hash, op
)
select m.seq, m.id, m.target, 'Delivered', ?2, m.created_at, m.max_retries, m.retry_interval_ms,
  m.origin_instance, m.execution_id, m.source_script, m.parent_execution_id, m.content_hash, ?3 + 1 + acked.key
from json_each(?1) acked cross join sf_messages m on m.seq = acked.value
where m.category = 1 and m.status = 0
