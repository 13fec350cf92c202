-- $1 now, $2 tenant, $3 actor, $4 ids, $5 the lane of each.
-- Only a parked row goes round again; who lost the race finds nothing here.
with asked as materialized (
  -- Looked up one by one: as a join it may begin with all of the tenant's notifications.
  select (select n.seq from notifications n where n.tenant = $2::integer and n.id = given.id) as seq, given.id, given.lane
  from unnest($4::uuid[], $5::bigint[]) as given (id, lane)
), parked as (
  delete from outcome
  using asked
  -- The concatenation keeps the planner off the index of parked rows, all of which it would walk while it thinks
  -- that there are few.
  where outcome.seq = asked.seq and outcome.status || '' = 'Parked'
  returning asked.id, asked.lane, outcome.seq, outcome.tenant, outcome.site, outcome.generation, outcome.last_attempt_at
), queued as (
  insert into due (seq, tenant, lane, site, waiting_since, due_at, generation, last_attempt_at, supersede_key,
    expires_at)
  select seq, tenant, lane, site, coalesce($1::timestamptz, date_trunc('milliseconds', now())),
    coalesce($1::timestamptz, date_trunc('milliseconds', now())), generation + 1, last_attempt_at,
    (select n.supersede_key from notifications n where n.seq = parked.seq),
    (select n.expires_at from notifications n where n.seq = parked.seq)
  from parked
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyRequeue', 'Pending', $3::text
  from parked
)
select id from parked
