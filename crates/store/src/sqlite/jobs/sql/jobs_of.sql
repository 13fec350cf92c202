select job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
from jobs
where tenant = ?1
order by created_at desc, job_id
limit ?2
