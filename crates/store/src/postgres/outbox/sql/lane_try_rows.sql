-- $1 now, $2 lane, $3 how many. What was never tried waits for its own time.
update due set due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where seq = any (array(
  select d.seq from due d
  where d.lane = $2::bigint and d.due_at > coalesce($1::timestamptz, date_trunc('milliseconds', now())) and d.attempts > 0
    and (d.leased_until is null or d.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  order by d.due_at
  limit $3::bigint
  for update skip locked
))
