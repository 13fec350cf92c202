select
  n.*,
  d.seq is not null as waits,
  coalesce(d.attempts, o.attempts, 0) as attempts, coalesce(d.generation, o.generation, 0) as generation,
  coalesce(d.waiting_since, o.waiting_since, n.created_at) as waiting_since,
  coalesce(d.last_attempt_at, o.last_attempt_at) as last_attempt_at, max(d.due_at, coalesce(d.leased_until, 0)) as due_at,
  iif(d.seq is null, o.code, d.code) as code, iif(d.seq is null, o.provider_code, d.provider_code) as provider_code,
  iif(d.seq is null, o.error, d.error) as error,
  o.status, o.at, o.resolved_targets, o.provider_message_id, o.receipt, o.receipt_at,
  d.leased_until, l.lane_id, iif(d.seq is null, null, l.not_before) as lane_not_before,
  l.provider as lane_provider, l.hold_reason, l.hold_detail, l.hold_by, l.hold_code, l.hold_since, l.next_probe, l.probes
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
left join lanes l on l.lane_id = coalesce(d.lane, o.lane)
where n.tenant = ?1 and n.id = ?2
