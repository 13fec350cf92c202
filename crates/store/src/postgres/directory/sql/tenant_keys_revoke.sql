-- $1 now, $2 tenant.
update api_keys set revoked_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where tenant = $2::integer and revoked_at is null
