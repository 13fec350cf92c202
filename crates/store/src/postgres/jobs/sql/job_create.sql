-- $1 now, $2 id, $3 tenant, $4 action, $5 filter, $6 actor, $7 total.
insert into jobs (job_id, tenant, action, filter, actor, total, created_at)
values (
  $2::uuid, $3::integer, $4::text, $5::text, $6::text, $7::bigint, coalesce($1::timestamptz, date_trunc('milliseconds', now()))
)
returning job_id, tenant, action, filter, actor, total, created_at, done, skipped, cursor, finished, error
