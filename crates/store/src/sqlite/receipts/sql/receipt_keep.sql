insert into receipt_inbox (
  tenant, lane, at, next_at, unproven, state, notification, generation, address, message_id, number, code, provider_code,
  detail, hold
)
values (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
