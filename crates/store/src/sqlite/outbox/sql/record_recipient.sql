-- Who accepted has accepted, whatever a later or a late attempt says.
insert into recipient_results (seq, address, state, generation, provider_message_id, code, provider_code, error, at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
on conflict (seq, address) do update
set state = excluded.state, generation = excluded.generation, provider_message_id = excluded.provider_message_id,
    code = excluded.code, provider_code = excluded.provider_code, error = excluded.error, at = excluded.at,
  -- Of an earlier message; what is known of this one came by a receipt only where it stays as it is.
  receipt = null
where recipient_results.state <> 'Accepted'
