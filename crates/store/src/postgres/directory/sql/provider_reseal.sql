-- $1 tenant, $2 id, $3 version, $4 settings, $5 secrets.
update providers
set settings = $4::text::jsonb, secrets = $5::text::jsonb
where tenant = $1::integer and id = $2::text and version = $3::bigint
