-- $1 seq.
select address, state, generation, provider_message_id, code, provider_code, error, at, provider, tries, not_before, receipt
from recipient_results
where seq = $1::bigint
order by address
