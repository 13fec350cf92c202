-- $1 tenant, $2 id.
select
  n.*,
  d.seq is not null as waits,
  coalesce(d.attempts, o.attempts, 0) as attempts, coalesce(d.generation, o.generation, 0) as generation,
  coalesce(d.waiting_since, o.waiting_since, n.created_at) as waiting_since,
  coalesce(d.last_attempt_at, o.last_attempt_at) as last_attempt_at, greatest(d.due_at, d.leased_until) as due_at,
  case when d.seq is null then o.code else d.code end as code,
  case when d.seq is null then o.provider_code else d.provider_code end as provider_code,
  case when d.seq is null then o.error else d.error end as error,
  o.status, o.at, o.resolved_targets, o.provider_message_id, o.receipt, o.receipt_at,
  d.leased_until, l.lane_id, case when d.seq is not null then l.not_before end as lane_not_before,
  l.provider as lane_provider, l.hold_reason, l.hold_detail, l.hold_by, l.hold_code, l.hold_since, l.next_probe, l.probes
from notifications n
left join due d on d.seq = any (array[n.seq])
left join outcome o on o.seq = n.seq
left join lanes l on l.lane_id = coalesce(d.lane, o.lane)
where n.tenant = $1::integer and n.id = $2::uuid
