-- $1 now, $2 receipt, $3 wait in milliseconds.
update receipt_inbox
set tries = tries + 1,
  next_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $3::float8 * interval '1 millisecond'
where receipt_id = $2::bigint
