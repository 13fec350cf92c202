select count(*) from message_templates where tenant = ?1 and deleted_at is null
