select
  a.audit_id, a.at, a.kind, a.status, a.ended_as, a.actor, a.target, a.duration_ms, a.code, a.provider_code, a.detail,
  n.id, n.subject, n.execution, n.parent_execution, n.site, a.operation
from audit_log a
left join notifications n on n.seq = a.seq
where a.seq = ?1
order by a.at desc, a.audit_id desc
