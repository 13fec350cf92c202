-- Of what an application wrote no more is read than shows that it is too long: events.max_payload is at most 3 MiB.
-- $1 now, $2 and $3 the place to begin behind, $4 how many, $5 how many bytes of payload: the first one comes however long it is.
-- Asked several times a second while nothing happens: the time and the version come along, also where nothing is due.
-- So do, once, the transactions that were under way in what it saw: what they wrote may stand before the place that the next one begins at.
select moment.now, moment.directory_version, case when due.bytes_before is null then moment.running end as running, due.*
from (
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
    (select value::bigint from meta where key = 'directory_version') as directory_version,
    array(select r.id::text::bigint from pg_snapshot_xip(pg_current_snapshot()) as r (id)) as running
) moment
left join lateral (
  select o.seq, o.event_id, t.tenant as tenant, o.tenant as tenant_name, o.topic, coalesce(o.event_type, '') as event_type, o.entity_type,
  coalesce(o.entity_id, '') as entity_id, substr(coalesce(o.payload, ''), 1, 3145729) as payload,
    coalesce(o.schema_version, 1) as schema_version, o.correlation_id, o.due_at, o.source, o.status, o.next_attempt_at, o.attempts, o.last_error,
    o.created_at, o.published_at, o.found, o.bytes_before,
    -- A plain INSERT asks nobody whether the id was there before.
    (select spent.at from spent_events spent where spent.tenant = o.tenant and spent.event_id = o.event_id) is not null as is_spent
  from (
    select w.*, count(*) over () as found,
      sum(least(coalesce(octet_length(w.payload), 0), 3145729)) over (order by w.next_attempt_at, w.seq rows between unbounded preceding and 1 preceding) as bytes_before
    from (
      select p.* from outbox_messages p
      where p.status = 'Pending' and p.next_attempt_at <= moment.now
        and (p.next_attempt_at, p.seq) > (coalesce($2::timestamptz, '-infinity'), $3::bigint)
      order by p.next_attempt_at, p.seq
      limit $4::bigint
    ) w
  ) o
  -- Once one was looked at it stays with the tenant that had the name then.
  left join tenants t on t.name = o.tenant and t.deleted_at is null and coalesce(nullif(o.tenant_id, 0), t.tenant) = t.tenant
  where coalesce(o.bytes_before, 0) < $5::bigint
  order by o.next_attempt_at, o.seq
) due on true
