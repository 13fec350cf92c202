-- $1 now, $2 this node, then arrays: $3 seq, $4 token, $5 status, $6 attempts to add, $7 code, $8 error,
-- $9 resolved targets, $10 the provider's message id; and of the row in the audit log $11 status, $12 ended as, $13 target,
-- $14 duration, $15 code, $16 detail. Answers with the rows whose lease was still held.
with moment as materialized (
  -- Once, not for every row.
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), gone as (
  delete from due
  using unnest(
    $3::bigint[], $4::bigint[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[],
    $11::text[], $12::text[], $13::text[], $14::integer[], $15::text[], $16::text[]
  ) as given (
    seq, token, status, attempts, code, error, resolved_targets, provider_message_id,
    log_status, ended_as, target, duration_ms, log_code, log_detail
  )
  where due.seq = given.seq and due.token = given.token
  returning due.seq, due.tenant, due.site, due.lane, due.waiting_since, due.generation,
    due.attempts + given.attempts as attempts, due.last_attempt_at, given.token,
    given.status, given.code, given.error, given.resolved_targets, given.provider_message_id,
    given.log_status, given.ended_as, given.target, given.duration_ms, given.log_code, given.log_detail
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at,
    code, error, resolved_targets, provider_message_id
  )
  select seq, tenant, site, lane, status, (select now from moment), waiting_since,
    generation, attempts, last_attempt_at, code, error, resolved_targets::jsonb, provider_message_id
  from gone
), logged as (
  insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms, code, detail)
  select (select now from moment), tenant, seq, token, 'NotifyDeliver', log_status, ended_as, 'system', target, duration_ms,
    log_code, log_detail
  from gone
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', (select now from moment), 'epoch'), tenant,
    coalesce(site, ''), status, $2::text || '/' || pg_backend_pid(), count(*)
  from gone
  group by tenant, site, status
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select seq, generation from gone
