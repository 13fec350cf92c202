-- $1 now, $2 this node, $3 tenants, $4 supersede keys, $5 seqs of the new rows, $6 their ids.
with replaced as (
  -- By its key, whatever the statistics say (see claim_due.sql): numbers are hidden from the planner.
  delete from due d
  using unnest($3::integer[], $4::text[], $5::bigint[], $6::uuid[]) as given (tenant, key, seq, id)
  cross join lateral (
    select w.seq from due w where w.tenant = given.tenant and w.supersede_key = given.key and w.seq + 0 < given.seq
    offset 0
  ) under_key
  where d.seq = any (array[under_key.seq])
    -- Somebody who still holds a lease may be sending right now.
    and (d.token is null or d.leased_until is null or d.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  returning d.seq, d.tenant, d.site, d.lane, d.waiting_since, d.generation, d.attempts, d.last_attempt_at, given.id,
    coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), left_alone as (
  -- If that fails, it is not tried again. By its key, also where the statistics say that hardly anything is leased.
  update due
  set superseded = true
  where due.seq = any (array(
    select under_key.seq
    from unnest($3::integer[], $4::text[], $5::bigint[], $6::uuid[]) as given (tenant, key, seq, id)
    cross join lateral (
      select d.seq, d.token, d.leased_until from due d
      where d.tenant = given.tenant and d.supersede_key = given.key and d.seq + 0 < given.seq
      offset 0
    ) under_key
    where under_key.token is not null
      and under_key.leased_until > coalesce($1::timestamptz, date_trunc('milliseconds', now()))
  ))
), ended as (
  insert into outcome (
    seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, error
  )
  select seq, tenant, site, lane, 'Discarded', now, waiting_since, generation, attempts, last_attempt_at,
    'SUPERSEDED', 'replaced by ' || id
  from replaced
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor, code, detail)
  select now, tenant, seq, 'NotifyDeliver', 'Discarded', 'system', 'SUPERSEDED', 'replaced by ' || id
  from replaced
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', now, 'epoch'), tenant, coalesce(site, ''), 'Discarded',
    $2::text || '/' || pg_backend_pid(), count(*)
  from replaced
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
-- Which row took whose place, for whoever watches.
select replaced.tenant, replaced.id, n.id
from replaced
join notifications n on n.seq = replaced.seq
