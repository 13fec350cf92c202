delete from jobs
where job_id in (select job_id from jobs where finished and created_at < ?1 order by created_at limit ?2)
