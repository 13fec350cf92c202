update message_templates set deleted_at = ?3
where tenant = ?1 and template_id = ?2 and deleted_at is null
