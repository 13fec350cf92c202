-- Where a call or write stands that was brought back, from its own row.
insert into operation_tracking (
  tracked_operation_id, kind, target_summary, status, retry_count, attempts, last_error, created_at, updated_at,
  source_instance_id, source_script, source_node, target, content_hash, revision
)
select id, ?4, summary,
  case when status = 2 then 'Parked' when attempt > 0 then 'Retrying' else 'Submitted' end, retry_count, attempt,
  last_error, created_at, ?2, origin_instance, source_script, ?3, target, content_hash, op
from sf_messages where id = ?1 and category <> 1
on conflict do nothing
