-- $1 seqs. What earlier attempts taught about each recipient.
select seq, address, state, generation, provider_message_id, code, provider_code, error, at, provider, tries, not_before, receipt
from recipient_results
where seq = any ($1::bigint[])
order by seq, address
