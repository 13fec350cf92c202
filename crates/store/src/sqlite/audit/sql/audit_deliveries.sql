-- The attempt that delivered a notification is read from its outcome.
select
  o.seq + ?6 as audit_id, o.at, 'NotifyDeliver' as kind, 'Attempted' as status, 'Delivered' as ended_as,
  'system' as actor, o.attempt_target as target, o.attempt_duration_ms as duration_ms, o.attempt_code as code,
  null as provider_code,
  o.attempt_detail as detail, n.id, n.subject, n.execution, n.parent_execution, n.site, null as operation
from outcome o
left join notifications n on n.seq = o.seq
where o.tenant = ?1 and o.attempt_token is not null and o.at >= ?2 and (o.at, o.seq) <= (?3, ?4)
order by o.at desc, o.seq desc
limit ?5
