-- What was made of events of these types for the entity, before the event $5, and still waits, among its newest: its history may
-- be long.
select n.id
from (
  select w.seq from notifications w
  where w.tenant = $1::integer and w.entity_type = $2::text and w.entity_id = $3::text
  order by w.seq desc
  limit 10000
) newest
join due d on d.seq = newest.seq
join notifications n on n.seq = newest.seq
join schedules s on s.tenant = n.tenant and s.event_id = (n.extra::jsonb #>> '{event,eventId}')::uuid and s.event_seq < $5::bigint
where n.extra::jsonb #>> '{event,eventType}' = any($4::text[])
limit 1000
