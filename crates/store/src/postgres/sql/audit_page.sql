-- $1 tenant, $2 from, $3 and $4 where to begin, $5 how many. Newest first.
select
  a.audit_id, a.at, a.kind, a.status, a.ended_as, a.actor, a.target, a.duration_ms, a.code, a.detail,
  n.id, n.execution, n.parent_execution, n.site
from audit_log a
left join notifications n on n.seq = a.seq
where a.tenant = $1::integer and a.at >= $2::timestamptz and (a.at, a.audit_id) <= ($3::timestamptz, $4::bigint)
order by a.at desc, a.audit_id desc
limit $5::bigint
