-- $1 tenant, $2 operation, $3 how many.
select
  a.audit_id, a.at, a.kind, a.status, a.ended_as, a.actor, a.target, a.duration_ms, a.code, a.provider_code, a.detail,
  null::uuid as id, null::text as subject, a.execution, a.parent_execution, a.site, a.operation
from audit_log a
where a.tenant = $1::integer and a.operation = $2::uuid
order by a.at desc, a.audit_id desc
limit $3::bigint
