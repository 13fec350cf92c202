-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
select seq, event_id, tenant, topic, event_type, entity_type, entity_id, substr(payload, 1, 3145729), schema_version, correlation_id, due_at
from waypost_outbox
where taken_at is null and seq > ?1
order by seq
limit ?2
