-- $1 now; then one array per column.
insert into schedules (
  tenant, event_id, event_seq, event_type, entity_type, entity_id, status, due_at, next_look_at, last_error, messages,
  created_at, published_at
)
select given.*, coalesce($1::timestamptz, date_trunc('milliseconds', now())), case when given.status <> 'Pending' then coalesce($1::timestamptz, date_trunc('milliseconds', now())) end
from unnest(
  $2::integer[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[],
  $10::timestamptz[], $11::text[], $12::text[]
) as given (
  tenant, event_id, event_seq, event_type, entity_type, entity_id, status, due_at, next_look_at, last_error, messages
)
