-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
-- $1 the place to begin behind, $2 how many, $3 how many bytes of payload: the first one comes however long it is.
select o.seq, o.event_id::text, o.tenant, o.topic, o.event_type, o.entity_type, o.entity_id, substr(o.payload, 1, 3145729), o.schema_version,
  o.correlation_id,
  case when o.due_at is not null then (extract(epoch from least(greatest(o.due_at, '1970-01-01'), '9999-12-31')) * 1000)::bigint end
from (
  select w.*,
    sum(least(octet_length(w.payload), 3145729)) over (order by w.seq rows between unbounded preceding and 1 preceding) as bytes_before
  from (
    select p.* from waypost.outbox_messages p where p.taken_at is null and p.seq > $1::bigint order by p.seq limit $2::bigint
  ) w
) o
where coalesce(o.bytes_before, 0) < $3::bigint
order by o.seq
