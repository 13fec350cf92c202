delete from sign_in_links where expires_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
