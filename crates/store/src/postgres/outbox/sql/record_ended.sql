-- Rows that end otherwise than delivered by an attempt: what is in the audit log about them is written apart.
-- $1 now, $2 this node, then arrays: $3 seq, $4 token, $5 status, $6 attempts to add, $7 code, $8 error,
-- $9 resolved targets, $10 the provider's message id, $11 the far end's own code. Answers with the rows whose lease was still held.
with gone as (
  delete from due
  using unnest(
    $3::bigint[], $4::bigint[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[]
  ) as given (seq, token, status, attempts, code, error, resolved_targets, provider_message_id, provider_code)
  where due.seq = any (array[given.seq]) and due.token = given.token
  returning due.seq, due.tenant, due.site, due.lane, due.waiting_since, due.generation,
    due.attempts + given.attempts as attempts, due.last_attempt_at,
    given.status, case when given.status = 'Delivered' then due.code else given.code end as code,
    case when given.status = 'Delivered' then due.provider_code else given.provider_code end as provider_code,
    case when given.status = 'Delivered' then due.error else given.error end as error,
    given.resolved_targets, given.provider_message_id
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at,
    code, provider_code, error, resolved_targets, provider_message_id
  )
  select seq, tenant, site, lane, status, coalesce($1::timestamptz, date_trunc('milliseconds', now())), waiting_since,
    generation, attempts, last_attempt_at, code, provider_code, error, resolved_targets, provider_message_id
  from gone
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), status, $2::text || '/' || pg_backend_pid(), count(*)
  from gone
  group by 1, 2, 3, 4
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select seq, generation from gone
