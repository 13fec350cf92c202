-- $1 now, $2 id, $3 node, $4 done, $5 skipped, $6 cursor, $7 finished, $8 error, $9 for how long, in milliseconds.
-- Counts of what was under way when somebody stopped the job are still written; it goes on no further.
update jobs
set done = $4::bigint, skipped = $5::bigint, cursor = $6::text, finished = $7::boolean or stopped_by is not null,
  error = $8::text,
  owner_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $9::float8 * interval '1 millisecond'
where job_id = $2::uuid and owner = $3::text and (not finished or stopped_by is not null)
returning stopped_by is null
