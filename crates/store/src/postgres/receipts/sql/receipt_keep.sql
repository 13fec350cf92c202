-- $1 now, then arrays: $2 tenant, $3 lane, $4 unproven, $5 state, $6 notification, $7 generation, $8 address,
-- $9 the provider's message id, $10 number, $11 code, $12 the provider's code, $13 detail, $14 hold.
insert into receipt_inbox (
  at, next_at, tenant, lane, unproven, state, notification, generation, address, message_id, number, code, provider_code,
  detail, hold
)
select coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  coalesce($1::timestamptz, date_trunc('milliseconds', now())), given.*
from unnest(
  $2::integer[], $3::bigint[], $4::boolean[], $5::text[], $6::uuid[], $7::integer[], $8::text[], $9::text[], $10::text[],
  $11::text[], $12::text[], $13::text[], $14::text[]
) as given
