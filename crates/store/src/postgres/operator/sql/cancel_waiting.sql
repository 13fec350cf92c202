-- $1 now, $2 this node, $3 tenant, $4 actor, $5 ids, $6 note.
-- Also a row that is being sent right now: its late success is added to the audit, the row stays Discarded.
with asked as materialized (
  -- Looked up one by one: as a join it may begin with all of the tenant's notifications.
  select (select n.seq from notifications n where n.tenant = $3::integer and n.id = given.id) as seq, given.id
  from unnest($5::uuid[]) as given (id)
), cancelled as (
  delete from due
  using asked
  where due.seq = any (array[asked.seq])
  returning asked.id, due.seq, due.tenant, due.site, due.lane, due.waiting_since, due.generation, due.attempts,
    due.last_attempt_at
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, error
  )
  select seq, tenant, site, lane, 'Discarded', coalesce($1::timestamptz, date_trunc('milliseconds', now())), waiting_since,
    generation, attempts, last_attempt_at, 'CANCELLED', 'cancelled by ' || $4::text
  from cancelled
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor, code, detail)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyDeliver', 'Discarded', $4::text, 'CANCELLED',
    $6::text
  from cancelled
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Discarded', $2::text || '/' || pg_backend_pid(), count(*)
  from cancelled
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select id from cancelled
