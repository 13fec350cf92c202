-- $1 now, $2 key.
update api_keys set last_used_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) where key_id = $2::bigint
