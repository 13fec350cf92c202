-- What was made of events of these types for the entity and still waits.
select n.id
from notifications n
join due d on d.seq = n.seq
where n.tenant = $1::integer and n.entity_type = $2::text and n.entity_id = $3::text
  and n.extra::jsonb #>> '{event,eventType}' = any($4::text[])
limit 1000
