-- $1 now.
update message_templates set deleted_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where tenant = $2::integer and template_id = $3::bigint and deleted_at is null
