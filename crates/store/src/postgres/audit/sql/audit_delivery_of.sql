-- $1 seq, $2 what to add to its number. As audit_deliveries.
select
  o.seq + $2::bigint as audit_id, o.at, 'NotifyDeliver' as kind, 'Attempted' as status, 'Delivered' as ended_as,
  'system' as actor, o.attempt_target as target, o.attempt_duration_ms as duration_ms, o.attempt_code as code,
  null::text as provider_code,
  o.attempt_detail as detail, n.id, n.subject, n.execution, n.parent_execution, n.site, null::uuid as operation
from outcome o
left join notifications n on n.seq = o.seq
where o.seq = $1::bigint and o.attempt_token is not null
