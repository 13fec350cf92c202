-- $1 now, $2 seq, $3 state.
update outcome
set receipt = $3::text, receipt_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where seq = $2::bigint
