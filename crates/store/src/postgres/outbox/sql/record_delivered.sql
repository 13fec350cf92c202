-- $1 now, $2 this node, then arrays: $3 seq, $4 token, $5 resolved targets, $6 the provider's message id; and of the attempt
-- $7 target, $8 duration, $9 code, $10 detail. Answers with the rows whose lease was still held.
-- What was delivered keeps its most recent failure.
with moment as materialized (
  -- Once, not for every row.
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), gone as (
  delete from due
  using unnest(
    $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::text[], $10::text[]
  ) as given (seq, token, resolved_targets, provider_message_id, target, duration_ms, code, detail)
  where due.seq between given.seq and given.seq and due.token = given.token
  returning due.seq, due.tenant, due.site, due.lane, due.waiting_since, due.generation, due.attempts, due.last_attempt_at,
    due.code as last_code, due.provider_code as last_provider_code, due.error as last_error,
    given.token, given.resolved_targets, given.provider_message_id, given.target, given.duration_ms, given.code, given.detail
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, provider_code,
    error, resolved_targets, provider_message_id, attempt_token, attempt_target, attempt_duration_ms, attempt_code, attempt_detail
  )
  select seq, tenant, site, lane, 'Delivered', (select now from moment), waiting_since, generation, attempts + 1,
    last_attempt_at, last_code, last_provider_code, last_error, resolved_targets, provider_message_id, token, target, duration_ms, code, detail
  from gone
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', (select now from moment), 'epoch'), tenant,
    coalesce(site, ''), 'Delivered', $2::text || '/' || pg_backend_pid(), count(*)
  from gone
  group by tenant, site
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select seq, generation from gone
