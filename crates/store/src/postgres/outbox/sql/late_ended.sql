-- $1 now, $2 this node, $3 seq, $4 resolved targets, $5 the provider's message id.
-- A late success ends a row that waits, whoever has claimed it meanwhile.
with gone as (
  delete from due
  where seq = $3::bigint
  returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Delivered', $2::text || '/' || pg_backend_pid(), 1
  from gone
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
insert into outcome (
  seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at,
  code, provider_code, error, resolved_targets, provider_message_id
)
select seq, tenant, site, lane, 'Delivered', coalesce($1::timestamptz, date_trunc('milliseconds', now())), waiting_since,
  generation, greatest(attempts, 1), last_attempt_at, code, provider_code, error, $4::text, $5::text
from gone
