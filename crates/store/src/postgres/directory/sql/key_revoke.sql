-- $1 now, $2 tenant, $3 key.
update api_keys
set revoked_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where tenant = $2::integer and key_id = $3::bigint and revoked_at is null
returning name
