update outbox_messages set status = 'Pending', next_attempt_at = 0, attempts = 0, last_error = null, tenant_id = nullif(tenant_id, 0)
where seq = ?1 and status in ('Failed', 'Deferred')
