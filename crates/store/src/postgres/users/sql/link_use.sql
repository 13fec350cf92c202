-- $1 now, $2 hash.
delete from sign_in_links
where hash = $2::bytea
returning case when expires_at > coalesce($1::timestamptz, date_trunc('milliseconds', now())) then user_id end
