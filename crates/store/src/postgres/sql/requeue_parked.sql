-- $1 now, $2 tenant, $3 actor, $4 ids, $5 the lane of each.
-- Only a parked row goes round again; who lost the race finds nothing here.
with parked as (
  delete from outcome
  using unnest($4::uuid[], $5::bigint[]) as given (id, lane)
  join notifications n on n.tenant = $2::integer and n.id = given.id
  where outcome.seq = n.seq and outcome.status = 'Parked'
  returning n.seq, n.tenant, n.id, n.site, n.supersede_key, given.lane, outcome.generation, outcome.last_attempt_at
), queued as (
  insert into due (seq, tenant, lane, site, waiting_since, due_at, generation, last_attempt_at, supersede_key)
  select seq, tenant, lane, site, coalesce($1::timestamptz, date_trunc('milliseconds', now())),
    coalesce($1::timestamptz, date_trunc('milliseconds', now())), generation + 1, last_attempt_at, supersede_key
  from parked
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyRequeue', 'Pending', $3::text
  from parked
)
select id from parked
