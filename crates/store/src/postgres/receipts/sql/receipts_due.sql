-- $1 now, $2 how many, $3 whether those whose far end has to be asked, or the others.
select receipt_id, tenant, lane, at, tries, unproven, state, notification, generation, address, message_id, number, code,
  provider_code, detail, hold
from receipt_inbox
where next_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now())) and unproven = $3::boolean
order by next_at, receipt_id
limit $2::bigint
