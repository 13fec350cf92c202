-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
-- $1 now, $2 and $3 the place to begin behind, $4 how many. Asked several times a second while nothing happens: the time and
-- the version come along, also where nothing is due.
select moment.now, moment.directory_version, due.*
from (
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
    (select value::bigint from meta where key = 'directory_version') as directory_version
) moment
left join lateral (
  select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, coalesce(o.event_type, '') as event_type, o.entity_type,
  coalesce(o.entity_id, '') as entity_id, substr(coalesce(o.payload, ''), 1, 3145729) as payload,
    coalesce(o.schema_version, 1) as schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
    o.created_at, o.published_at
  from outbox_messages o
  -- Once one was looked at it stays with the tenant that had the name then.
  left join tenants t on t.name = o.tenant and t.deleted_at is null and coalesce(nullif(o.tenant_id, 0), t.tenant) = t.tenant
  where o.status = 'Pending' and o.next_attempt_at <= moment.now
    and (o.next_attempt_at, o.seq) > (coalesce($2::timestamptz, '-infinity'), $3::bigint)
  order by o.next_attempt_at, o.seq
  limit $4::bigint
) due on true
