-- $1 now, $2 user.
update users set last_sign_in_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) where user_id = $2::bigint
