-- $1 now, $2 this node, $3 seq, $4 code, $5 error, $6 who still has it,
-- $7 the far end's own code.
-- Delivered becomes Parked by a receipt and by nothing else.
with parked as (
  update outcome
  set status = 'Parked', at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), code = $4::text,
    error = $5::text, provider_code = $7::text, resolved_targets = $6::text, receipt = 'failed',
    receipt_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())),
    attempt_token = null, attempt_target = null, attempt_duration_ms = null, attempt_code = null, attempt_detail = null
  where seq = $3::bigint and status = 'Delivered'
  returning tenant, site
)
insert into stats (bucket, tenant, site, what, writer, n)
select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
  coalesce(site, ''), 'Parked', $2::text || '/' || pg_backend_pid(), 1
from parked
on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
