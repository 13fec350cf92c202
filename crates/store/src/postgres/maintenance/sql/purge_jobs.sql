-- $1 now, $2 how long they are kept, in milliseconds, $3 how many.
delete from jobs
where job_id = any (array(
  select j.job_id from jobs j
  where j.finished and j.created_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
  order by j.created_at
  limit $3::bigint
))
