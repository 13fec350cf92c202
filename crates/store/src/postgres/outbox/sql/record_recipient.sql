-- $1 now, then arrays: $2 seq, $3 address, $4 state, $5 generation, $6 the provider's message id, $7 code, $8 error,
-- $9 the far end's own code, $10 provider, $11 tries to add, $12 how long it is not asked for, in milliseconds.
insert into recipient_results (
  seq, address, state, generation, provider_message_id, code, provider_code, error, at, provider, tries, not_before
)
select seq, address, state, generation, provider_message_id, code, provider_code, error,
  coalesce($1::timestamptz, date_trunc('milliseconds', now())), provider, tries,
  coalesce($1::timestamptz, date_trunc('milliseconds', now())) + wait * interval '1 millisecond'
from unnest(
  $2::bigint[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
  $11::integer[], $12::float8[]
) as given (seq, address, state, generation, provider_message_id, code, error, provider_code, provider, tries, wait)
on conflict (seq, address) do update
set state = excluded.state, generation = excluded.generation, provider_message_id = excluded.provider_message_id,
  code = excluded.code, provider_code = excluded.provider_code, error = excluded.error, at = excluded.at,
  provider = excluded.provider,
  -- Tries count from zero in each generation.
  tries = excluded.tries + case when recipient_results.generation = excluded.generation then recipient_results.tries else 0 end,
  not_before = excluded.not_before,
  -- Of an earlier message; what is known of this one came by a receipt only where it stays as it is.
  receipt = null
-- Who accepted has accepted, whatever a later or a late attempt says.
where recipient_results.state <> 'Accepted'
