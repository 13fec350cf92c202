update jobs set finished = 1, stopped_by = ?3
where tenant = ?1 and job_id = ?2 and not finished
returning job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
