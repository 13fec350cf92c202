-- Who accepted has accepted, whatever a later or a late attempt says. Tries count from zero in each generation.
insert into recipient_results (
  seq, address, state, generation, provider_message_id, code, provider_code, error, at, provider, tries, not_before
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
on conflict (seq, address) do update
set state = excluded.state, generation = excluded.generation, provider_message_id = excluded.provider_message_id,
    code = excluded.code, provider_code = excluded.provider_code, error = excluded.error, at = excluded.at,
    provider = excluded.provider,
    tries = excluded.tries + iif(recipient_results.generation = excluded.generation, recipient_results.tries, 0),
    not_before = excluded.not_before,
    -- Of an earlier message; what is known of this one came by a receipt only where it stays as it is.
    receipt = null
where recipient_results.state <> 'Accepted'
