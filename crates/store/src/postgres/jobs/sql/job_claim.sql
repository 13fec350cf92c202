-- $1 now, $2 node, $3 for how long, in milliseconds.
update jobs
set owner = $2::text,
  owner_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $3::float8 * interval '1 millisecond'
where job_id = (
  select j.job_id from jobs j
  where not j.finished
    and (j.owner_until is null or j.owner_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  order by j.created_at
  limit 1
  for update skip locked
)
returning job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
