-- $1 now, $2 hash, $3 how long from now, in milliseconds.
update sessions
set expires_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $3::float8 * interval '1 millisecond'
where hash = $2::bytea and expires_at > coalesce($1::timestamptz, date_trunc('milliseconds', now()))
