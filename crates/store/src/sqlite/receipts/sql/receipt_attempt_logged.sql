-- The attempt that delivered it is told on the outcome only as long as that is what it came to.
insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms, code, detail)
select at, tenant, seq, attempt_token, 'NotifyDeliver', 'Attempted', 'Delivered', 'system', attempt_target,
  attempt_duration_ms, attempt_code, attempt_detail
from outcome
where seq = ?1 and status = 'Delivered' and attempt_token is not null
