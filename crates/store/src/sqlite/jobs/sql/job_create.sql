insert into jobs (job_id, tenant, action, filter, actor, total, created_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
returning job_id, tenant, action, filter, actor, total, created_at, done, skipped, cursor, finished, error
