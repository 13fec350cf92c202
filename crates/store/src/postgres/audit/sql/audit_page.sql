-- $1 tenant, $2 from, $3 and $4 where to begin, $5 how many. Newest first.
-- What is about a notification takes its origin from there; what a site told carries its own.
select
  a.audit_id, a.at, a.kind, a.status, a.ended_as, a.actor, a.target, a.duration_ms, a.code, a.provider_code, a.detail,
  n.id, n.subject, coalesce(n.execution, a.execution) as execution,
  coalesce(n.parent_execution, a.parent_execution) as parent_execution, coalesce(n.site, a.site) as site, a.operation
from audit_log a
left join notifications n on n.seq = a.seq
where a.tenant = $1::integer and a.at >= $2::timestamptz and (a.at, a.audit_id) <= ($3::timestamptz, $4::bigint)
order by a.at desc, a.audit_id desc
limit $5::bigint
