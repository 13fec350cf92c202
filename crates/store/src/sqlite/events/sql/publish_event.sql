-- The fence: whoever finds it Pending publishes it, once.
update outbox_messages set status = 'Published', published_at = ?2, last_error = null, tenant_id = ?3
where seq = ?1 and status = 'Pending'
