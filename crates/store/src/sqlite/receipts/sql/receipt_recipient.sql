-- Only a receipt may turn who has accepted into who has failed.
insert into recipient_results (seq, address, state, generation, provider_message_id, code, provider_code, error, at, receipt)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
on conflict (seq, address) do update
set state = excluded.state, generation = excluded.generation, provider_message_id = excluded.provider_message_id,
    code = excluded.code, provider_code = excluded.provider_code, error = excluded.error, at = excluded.at, receipt = excluded.receipt
