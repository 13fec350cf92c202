-- $1 tenant, $2 before which number, $3 status, $4 event type, $5 entity, $6 and $7 when created, $8 by when it was settled, $9 how
-- many. Once one is settled its next attempt is when that was.
select o.seq
from tenants t
cross join lateral (
  select w.seq from outbox_messages w
  where w.tenant = t.name and w.status in ('Failed', 'Deferred') and w.seq < $2::bigint
    and coalesce(w.tenant_id, t.tenant) = t.tenant
    and ($3::text is null or w.status = $3) and ($4::text is null or w.event_type = $4)
    and ($5::text is null or w.entity_id = $5) and ($6::timestamptz is null or w.created_at >= $6)
    and ($7::timestamptz is null or w.created_at < $7) and w.next_attempt_at <= $8::timestamptz
  order by w.seq desc
  limit $9::bigint
) o
where t.tenant = $1::integer and t.deleted_at is null
order by o.seq desc
