-- $1 first seq, $2 last.
insert into waypost.audit_log (
  at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms
)
select created_at + interval '5 milliseconds', tenant, seq, seq, 'NotifyDeliver', 'Attempted', 'Delivered', 'system', 'noop', 1
from waypost.notifications
where seq between $1::bigint and $2::bigint
