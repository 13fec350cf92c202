-- $3: the version that whoever saves has seen.
update message_templates set version = version + 1, active = $4::boolean
where tenant = $1::integer and template_id = $2::bigint and version = $3::bigint and deleted_at is null
returning version
