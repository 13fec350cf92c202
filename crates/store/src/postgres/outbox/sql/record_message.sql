-- $1 now, then arrays: $2 lane, $3 the far end's id, $4 seq, $5 address, $6 generation.
-- A receipt that came before the record is looked at now.
with known as (
  insert into provider_messages (lane, message_id, seq, address, generation)
  select * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::integer[])
  on conflict do nothing
)
update receipt_inbox
set next_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
from unnest($2::bigint[], $3::text[]) as given (lane, message_id)
where receipt_inbox.lane = given.lane and receipt_inbox.message_id = given.message_id and receipt_inbox.tries > 0
