-- ?1 first seq, ?2 last.
insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms)
select created_at + 5, tenant, seq, seq, 'NotifyDeliver', 'Attempted', 'Delivered', 'system', 'noop', 1
from notifications
where seq between ?1 and ?2
