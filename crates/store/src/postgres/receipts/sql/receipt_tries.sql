-- $1 now, $2 receipt.
select tries, at, coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
from receipt_inbox
where receipt_id = $2::bigint
