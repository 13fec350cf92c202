-- $1 now, $2 this node, $3 seq, $4 resolved targets, $5 the provider's message id.
-- A late success completes a parked row, which keeps its most recent failure; Discarded stays.
with completed as (
  update outcome
  set status = 'Delivered', at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), attempts = greatest(attempts, 1),
    resolved_targets = $4::text, provider_message_id = $5::text
  where seq = $3::bigint and status = 'Parked'
  returning seq, tenant, site
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Delivered', $2::text || '/' || pg_backend_pid(), 1
  from completed
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select seq from completed
