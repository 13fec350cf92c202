-- Those whose far end has to be asked are worked on once it was.
select receipt_id, tenant, lane, at, tries, unproven, state, notification, generation, address, message_id, number, code,
  provider_code, detail, hold
from receipt_inbox
where next_at <= ?1 and unproven = ?3
order by next_at, receipt_id
limit ?2
