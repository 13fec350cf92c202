-- $1 now, $2 this node, $3 how many, $4 code, $5 words, $6 words where an attempt was interrupted.
-- One that is being sent is left alone: it may arrive yet.
with overdue as materialized (
  select d.seq from due d
  where d.expires_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
    and (d.leased_until is null or d.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  order by d.expires_at
  limit $3::bigint
  for update skip locked
), gone as (
  delete from due
  using overdue
  where due.seq = any (array[overdue.seq])
  returning due.seq, due.tenant, due.site, due.lane, due.waiting_since, due.generation, due.attempts, due.last_attempt_at,
    case when due.token is null then $5::text else $6::text end as error
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, error
  )
  select seq, tenant, site, lane, 'Parked', coalesce($1::timestamptz, date_trunc('milliseconds', now())), waiting_since,
    generation, attempts, last_attempt_at, $4::text, error
  from gone
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor, code, detail)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyDeliver', 'Parked', 'system',
    $4::text, error
  from gone
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Parked', $2::text || '/' || pg_backend_pid(), count(*)
  from gone
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
-- Looked up one by one: as a join it may begin with all notifications.
select gone.tenant, (select n.id from notifications n where n.seq = gone.seq) as id from gone
