update jobs
set done = ?3, skipped = ?4, cursor = ?5, finished = ?6, error = ?7, owner_until = ?8
where job_id = ?1 and owner = ?2
