-- $1 now, $2 tenant, $3 event.
update schedules
set status = 'Pending', next_look_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), due_at = least(due_at, coalesce($1::timestamptz, date_trunc('milliseconds', now()))), attempts = 0, last_error = null, published_at = null,
  settled_at = null
where tenant = $2::integer and event_id = $3::uuid and status in ('Failed', 'Cancelled')
