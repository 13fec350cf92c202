select
  a.audit_id, a.at, a.kind, a.status, a.ended_as, a.actor, a.target, a.duration_ms, a.code, a.provider_code, a.detail,
  null as id, null as subject, a.execution, a.parent_execution, a.site, a.operation
from audit_log a
where a.tenant = ?1 and a.operation = ?2
order by a.at desc, a.audit_id desc
limit ?3
