-- What was made of events of this type for the entity and still waits.
select n.id
from notifications n
join due d on d.seq = n.seq
where n.tenant = ?1 and n.entity_type = ?2 and n.entity_id = ?3 and n.extra ->> '$.event.eventType' = ?4
limit 1000
