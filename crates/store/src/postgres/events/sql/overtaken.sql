-- One array per column: an event's number, its tenant and entity, and a type that calls it off. Events of that type that came
-- later and were worked on before it.
select distinct on (given.seq) given.seq, s.event_type, s.event_id
from unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[]) as given (seq, tenant, entity_type, entity_id, cancelled_by)
join schedules s on s.tenant = any (array[given.tenant]) and s.entity_type = any (array[given.entity_type]) and s.entity_id = any (array[given.entity_id])
  and s.event_type = given.cancelled_by and s.event_seq > given.seq
order by given.seq, s.event_seq
