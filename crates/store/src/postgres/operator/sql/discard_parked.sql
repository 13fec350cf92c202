-- $1 now, $2 this node, $3 tenant, $4 actor, $5 ids, $6 note.
with asked as materialized (
  -- Looked up one by one: as a join it may begin with all of the tenant's notifications.
  select (select n.seq from notifications n where n.tenant = $3::integer and n.id = given.id) as seq, given.id
  from unnest($5::uuid[]) as given (id)
), discarded as (
  update outcome
  set status = 'Discarded', at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
  from asked
  -- The concatenation: see requeue_parked.
  where outcome.seq = asked.seq and outcome.status || '' = 'Parked'
  returning asked.id, outcome.seq, outcome.tenant, outcome.site
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor, detail)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyDeliver', 'Discarded', $4::text, $6::text
  from discarded
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', coalesce($1::timestamptz, date_trunc('milliseconds', now())), 'epoch'), tenant,
    coalesce(site, ''), 'Discarded', $2::text || '/' || pg_backend_pid(), count(*)
  from discarded
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select id from discarded
