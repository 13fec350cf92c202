-- Counts of what was under way when somebody stopped the job are still written; it goes on no further.
update jobs
set done = ?3, skipped = ?4, cursor = ?5, finished = ?6 or stopped_by is not null, error = ?7, owner_until = ?8
where job_id = ?1 and owner = ?2 and (not finished or stopped_by is not null)
returning stopped_by is null
