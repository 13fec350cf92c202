update outbox_messages
set status = ?2, next_attempt_at = ?3, attempts = attempts + ?4, last_error = ?5,
  tenant_id = coalesce(nullif(tenant_id, 0), (select tenant from tenants where name = outbox_messages.tenant and deleted_at is null), 0)
where seq = ?1 and status = 'Pending'
