-- $1 now, $2 how long they are kept, in milliseconds, $3 how many. An event goes with its schedule, after the notifications
-- that this names; its id stays spent.
with old as (
  select o.seq, o.tenant, o.event_id from outbox_messages o
  where o.status <> 'Pending' and o.created_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
    and not exists (
      select 1 from schedules s
      where s.event_seq = o.seq and (
        s.status = 'Pending' or exists (
          select 1 from jsonb_array_elements(s.messages::jsonb) m
          join notifications n on n.tenant = s.tenant and n.id = (m ->> 'notification')::uuid
        )
      )
    )
  order by o.created_at
  limit $3::bigint
  -- Another node's purge, or somebody who replays the event, goes first; what was replayed meanwhile is Pending and stays.
  for update of o skip locked
), ended as (
  -- The same for whoever replays its schedule.
  select s.seq, s.event_seq from schedules s join old on old.seq = s.event_seq
  where s.status <> 'Pending'
  for update of s skip locked
), free as (
  select old.* from old
  where not exists (
    select 1 from schedules s where s.event_seq = old.seq and not exists (select 1 from ended where ended.seq = s.seq)
  )
), spent as (
  insert into spent_events (tenant, event_id, at) select tenant, event_id, coalesce($1::timestamptz, date_trunc('milliseconds', now())) from free
  on conflict do nothing
), gone as (
  delete from schedules s using ended, free where s.seq = ended.seq and ended.event_seq = free.seq
)
delete from outbox_messages o using free where o.seq = free.seq
