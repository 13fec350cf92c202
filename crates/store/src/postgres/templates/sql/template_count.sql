select count(*) from message_templates where tenant = $1::integer and deleted_at is null
