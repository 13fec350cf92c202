-- $1 now, $2 id, $3 tenant, $4 action, $5 filter, $6 actor, $7 total, $8 reason.
insert into jobs (job_id, tenant, action, filter, actor, total, created_at, reason)
values (
  $2::uuid, $3::integer, $4::text, $5::text, $6::text, $7::bigint, coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  $8::text
)
-- The same request once more: the job is there.
on conflict (job_id) do nothing
returning job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error
