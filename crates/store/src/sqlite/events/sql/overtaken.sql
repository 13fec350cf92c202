-- Events of a type that calls this one off, that came later and were worked on before it.
select s.event_type, s.event_id
from schedules s
where s.tenant = ?1 and s.entity_type = ?2 and s.entity_id = ?3 and s.event_type = ?4 and s.event_seq > ?5
order by s.event_seq
limit 1
