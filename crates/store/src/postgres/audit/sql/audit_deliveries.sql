-- $1 tenant, $2 from, $3 and $4 where to begin, $5 how many, $6 what to add to a row's number. Newest first.
-- The attempt that delivered a notification is read from its outcome.
select
  o.seq + $6::bigint as audit_id, o.at, 'NotifyDeliver' as kind, 'Attempted' as status, 'Delivered' as ended_as,
  'system' as actor, o.attempt_target as target, o.attempt_duration_ms as duration_ms, o.attempt_code as code,
  null::text as provider_code,
  o.attempt_detail as detail, n.id, n.subject, n.execution, n.parent_execution, n.site, null::uuid as operation
from outcome o
left join notifications n on n.seq = o.seq
where o.tenant = $1::integer and o.attempt_token is not null and o.at >= $2::timestamptz
  and (o.at, o.seq) <= ($3::timestamptz, $4::bigint)
order by o.at desc, o.seq desc
limit $5::bigint
