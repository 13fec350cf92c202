-- $1 seq, $2 address, $3 state, $4 generation, $5 the provider's message id, $6 code, $7 error, $8 at, $9 receipt,
-- $10 the far end's own code.
-- Only a receipt may turn who has accepted into who has failed.
insert into recipient_results (seq, address, state, generation, provider_message_id, code, error, at, receipt, provider_code)
values ($1::bigint, $2::text, $3::text, $4::integer, $5::text, $6::text, $7::text, $8::timestamptz, $9::text, $10::text)
on conflict (seq, address) do update
set state = excluded.state, generation = excluded.generation, provider_message_id = excluded.provider_message_id,
  code = excluded.code, error = excluded.error, at = excluded.at, receipt = excluded.receipt,
  provider_code = excluded.provider_code
