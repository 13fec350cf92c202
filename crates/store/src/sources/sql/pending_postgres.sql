-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
-- $1 the place to begin behind, $2 how many, $3 how many bytes of payload: the first one comes however long it is.
-- The transactions that were under way in what it saw come along once, also where nothing is pending: what they wrote may stand before
-- the place that the next one begins at.
select case when due.bytes_before is null then moment.running end as running, due.*
from (
  select array(select r.id::text::bigint from pg_snapshot_xip(pg_current_snapshot()) as r (id)) as running
) moment
left join lateral (
  select o.seq, o.event_id::text as event_id, o.tenant, o.topic, o.event_type, o.entity_type, o.entity_id, substr(o.payload, 1, 3145729) as payload,
    o.schema_version, o.correlation_id,
    case when o.due_at is not null then (extract(epoch from least(greatest(o.due_at, '1970-01-01'), '9999-12-31')) * 1000)::bigint end as due_at,
    o.found, o.bytes_before
  from (
    select w.*,
      count(*) over () as found,
      sum(least(coalesce(octet_length(w.payload), 0), 3145729)) over (order by w.seq rows between unbounded preceding and 1 preceding) as bytes_before
    from (
      select p.* from waypost.outbox_messages p where p.taken_at is null and p.seq > $1::bigint order by p.seq limit $2::bigint
    ) w
  ) o
  where coalesce(o.bytes_before, 0) < $3::bigint
  order by o.seq
) due on true
