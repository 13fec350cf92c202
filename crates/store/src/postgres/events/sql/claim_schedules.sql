-- $1 now, $2 token, $3 for how long, in milliseconds, $4 how many.
update schedules set token = $2::bigint, leased_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $3::float8 * interval '1 millisecond'
where seq = any(array(
  select w.seq from schedules w
  where w.status = 'Pending' and w.next_look_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now())) and (w.leased_until is null or w.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  order by w.next_look_at, w.seq
  limit $4::bigint
  for update skip locked
))
returning seq
