-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
select seq, event_id::text, tenant, topic, event_type, entity_type, entity_id, substr(payload, 1, 3145729), schema_version, correlation_id,
  case when due_at between '1970-01-01' and '9999-12-31' then (extract(epoch from due_at) * 1000)::bigint end
from waypost.outbox_messages
where taken_at is null and seq > $1::bigint
order by seq
limit $2::bigint
