-- $1 now, $2 the lane they leave, arrays: $3 seq, $4 generation, $5 the lane each goes to; $6 what the log says.
-- The fence: the lane is held for trouble of its own, nobody is sending the row, nobody can have it already, it does not
-- wait for its hours, and it has not been there before.
with failing as materialized (
  select lane_id, hold_reason from lanes where lane_id = $2::bigint and hold_reason not in ('operator', 'disabled')
), picked as materialized (
  -- In the order of their rows, as everybody takes locks; what somebody else is at is left to the next time. By their numbers:
  -- the lane is hidden from the planner, which would walk over all that waits in it (see claim_due.sql).
  select d.seq, given.lane
  from failing
  cross join unnest($3::bigint[], $4::integer[], $5::bigint[]) as given (seq, generation, lane)
  join due d on d.seq = any (array[given.seq])
  where d.generation = given.generation and d.lane + 0 = $2::bigint and d.token is null and d.claims = 0
    and not d.in_doubt and not d.superseded
    and (d.due_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now())) or d.code is distinct from 'OUTSIDE_HOURS')
    and not given.lane = any (coalesce(d.left_lanes, '{}'))
    and (
      -- With a limit it stays a question about one row.
      select true from recipient_results r
      where r.seq = d.seq and r.generation = d.generation and r.state = 'Ambiguous'
      limit 1
    ) is null
  order by given.seq
  for update of d skip locked
), moved as (
  update due
  set lane = picked.lane, due_at = least(due.due_at, coalesce($1::timestamptz, date_trunc('milliseconds', now()))),
    attempts = 0, unknowns = 0, left_lanes = array_append(coalesce(due.left_lanes, '{}'), $2::bigint)
  from picked
  where due.seq = any (array[picked.seq])
  returning due.seq, due.tenant, due.lane
), again as (
  -- Who is still open has its tries again.
  update recipient_results r
  set tries = 0, not_before = null
  -- As a list: as a join it may begin with all results.
  where r.seq = any (array(select moved.seq from moved)) and r.state = 'Open'
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor, target, code, detail)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), moved.tenant, moved.seq, 'NotifyMove', 'Pending',
    'system', (select l.provider from lanes l where l.lane_id = moved.lane), failing.hold_reason, $6::text
  from moved
  cross join failing
)
select moved.tenant, moved.lane, (select n.id from notifications n where n.seq = moved.seq) as id from moved
