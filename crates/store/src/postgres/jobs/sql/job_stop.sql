update jobs set finished = true, stopped_by = $3::text
where tenant = $1::integer and job_id = $2::uuid and not finished
returning job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
