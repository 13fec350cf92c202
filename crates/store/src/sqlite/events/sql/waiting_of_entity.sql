-- What was made of events of this type for the entity, before the event ?5, and still waits, among its newest: its history may
-- be long.
select n.id
from notifications n
join due d on d.seq = n.seq
join schedules s on s.tenant = n.tenant and s.event_id = unhex(replace(n.extra ->> '$.event.eventId', '-', '')) and s.event_seq < ?5
where n.seq in (
  select w.seq from notifications w
  where w.tenant = ?1 and w.entity_type = ?2 and w.entity_id = ?3
  order by w.seq desc
  limit 10000
)
  and n.extra ->> '$.event.eventType' = ?4
limit 1000
