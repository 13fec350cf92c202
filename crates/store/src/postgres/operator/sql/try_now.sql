-- $1 now, $2 tenant, $3 actor, $4 id. Nothing that is due already or being sent right now.
with moved as (
  update due
  set due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
  where seq = (select n.seq from notifications n where n.tenant = $2::integer and n.id = $4::uuid)
    and due_at > coalesce($1::timestamptz, date_trunc('milliseconds', now()))
    and (leased_until is null or leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  returning seq, tenant, lane
), again as (
  -- Who waits for a try of its own is asked for too; what a service wants to wait for is a pause, and stays.
  update recipient_results r set not_before = null
  where r.seq = any (array(select moved.seq from moved)) and r.state = 'Open'
), logged as (
  insert into audit_log (at, tenant, seq, kind, status, actor)
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())), tenant, seq, 'NotifyTry', 'Pending', $3::text
  from moved
)
select lane from moved
