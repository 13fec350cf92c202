-- $1 now; then one array per column. Answers with whose they are, where it is more than waiting for somebody else's outage.
update outbox_messages o
set status = given.status, next_attempt_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + given.wait * interval '1 millisecond',
  attempts = o.attempts + given.counted, last_error = given.error,
  tenant_id = coalesce(nullif(o.tenant_id, 0), (select t.tenant from tenants t where t.name = o.tenant and t.deleted_at is null), 0)
from unnest($2::bigint[], $3::text[], $4::float8[], $5::integer[], $6::text[]) as given (seq, status, wait, counted, error)
-- By its number: an index of what is pending, which the bare status would allow, is walked as a whole for each of them.
where o.seq = any (array[given.seq]) and coalesce(o.status, '') = 'Pending'
returning nullif(o.tenant_id, 0) as tenant, coalesce(o.entity_id, '') as entity_id, (given.counted > 0 or given.status <> 'Pending') as is_told,
  left(coalesce(
    case when btrim(o.entity_type, E' \t\r\n') <> '' then o.entity_type end,
    (select e.definition::jsonb ->> 'entityType' from event_types e where e.tenant = o.tenant_id and e.name = o.event_type),
    split_part(coalesce(o.event_type, ''), '.', 1)
  ), $7::integer) as entity_type
