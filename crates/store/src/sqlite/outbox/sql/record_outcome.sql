insert into outcome (
  seq, tenant, site, lane, status, at, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error,
  resolved_targets, provider_message_id, attempt_token, attempt_target, attempt_duration_ms, attempt_code, attempt_detail
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
