-- $1 now, $2 hash, $3 user, $4 how long, in milliseconds.
insert into sign_in_links (hash, user_id, expires_at)
values ($2::bytea, $3::bigint, coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond')
