insert into jobs (job_id, tenant, action, filter, actor, total, created_at, reason)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
-- The same request once more: the job is there.
on conflict (job_id) do nothing
returning job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
