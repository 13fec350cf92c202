insert into outcome (
  seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, error,
  resolved_targets, provider_message_id
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
