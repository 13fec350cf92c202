update outbox_messages set status = 'Pending', next_attempt_at = 0, attempts = 0, last_error = null, tenant_id = null
where seq = ?1 and status in ('Failed', 'Deferred')
