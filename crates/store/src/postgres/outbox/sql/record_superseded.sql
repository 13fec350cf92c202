-- $1 now, $2 this node, $3 seqs, $4 code, $5 words. Rows that failed after a newer one with their key had come.
with replaced as (
  delete from due
  where seq = any ($3::bigint[])
  returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, error
  )
  select seq, tenant, site, lane, 'Discarded', coalesce($1::timestamptz, date_trunc('milliseconds', now())), waiting_since,
    generation, attempts, last_attempt_at, $4::text, $5::text
  from replaced
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor, code, detail)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyDeliver', 'Discarded', 'system',
    $4::text, $5::text
  from replaced
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Discarded', $2::text || '/' || pg_backend_pid(), count(*)
  from replaced
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select seq from replaced
