select seq, event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at
from waypost_outbox
where taken_at is null and seq > ?1
order by seq
limit ?2
