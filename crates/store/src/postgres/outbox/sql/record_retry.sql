-- $1 now, $2 this node, then arrays: $3 seq, $4 token, $5 wait in milliseconds, $6 unknown answers to add, $7 code, $8 error,
-- $9 the far end's own code, $10 whether somebody may have it.
with kept as (
  update due
  set attempts = due.attempts + 1, unknowns = due.unknowns + given.unknowns, claims = 0, token = null, leased_until = null,
    due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + given.wait * interval '1 millisecond',
    code = given.code, provider_code = given.provider_code, error = given.error, in_doubt = due.in_doubt or given.in_doubt
  from unnest($3::bigint[], $4::bigint[], $5::float8[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::boolean[])
    as given (seq, token, wait, unknowns, code, error, provider_code, in_doubt)
  where due.seq = any (array[given.seq]) and due.token = given.token
  returning due.seq, due.tenant, due.site, due.generation, due.superseded
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Retried', $2::text || '/' || pg_backend_pid(), count(*)
  from kept
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select seq, generation, superseded from kept
