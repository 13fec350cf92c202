-- ?1 tenant, ?2 provider, ?3 since, ?4 how many. The newest attempts that the log tells of: those that failed, and deliveries with
-- more to tell.
select a.at, a.code, a.provider_code
from audit_log a
where a.tenant = ?1 and a.target = ?2 and a.kind = 'NotifyDeliver' and a.status = 'Attempted' and a.at >= ?3
order by a.at desc, a.audit_id desc
limit ?4
