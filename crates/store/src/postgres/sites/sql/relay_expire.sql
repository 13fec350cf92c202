-- $1 now, $2 how long anybody waits, in milliseconds. Whoever asked before that has given up.
delete from site_relays
where asked_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
