-- Delivered becomes Parked by a receipt and by nothing else.
update outcome
set status = 'Parked', at = ?2, code = ?3, error = ?4, provider_code = ?6, resolved_targets = ?5, receipt = 'failed', receipt_at = ?2,
    attempt_token = null, attempt_target = null, attempt_duration_ms = null, attempt_code = null, attempt_detail = null
where seq = ?1 and status = 'Delivered'
