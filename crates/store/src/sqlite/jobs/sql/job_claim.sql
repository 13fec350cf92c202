update jobs set owner = ?1, owner_until = ?3
where job_id = (
  select job_id from jobs
  where not finished and (owner_until is null or owner_until <= ?2)
  order by created_at
  limit 1
)
returning job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
