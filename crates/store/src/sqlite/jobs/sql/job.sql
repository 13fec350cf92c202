select job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error from jobs where tenant = ?1 and job_id = ?2
