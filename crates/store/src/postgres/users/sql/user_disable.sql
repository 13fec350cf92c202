-- $1 now, $2 user, $3 whether they are to be kept out.
update users
set disabled_at = case when $3::boolean then coalesce($1::timestamptz, date_trunc('milliseconds', now())) end
where user_id = $2::bigint and (disabled_at is null) = $3::boolean
