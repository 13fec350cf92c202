-- $1 now; then one array per column. What each came to is written once that is known.
update schedules s
set status = given.status, published_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), last_error = given.error, token = null, leased_until = null,
  next_look_at = null
from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[]) as given (seq, token, status, error)
-- By its number: an index of what is pending, which the bare status would allow, is walked as a whole for each of them.
where s.seq = any (array[given.seq]) and s.token = given.token and s.leased_until is not null and coalesce(s.status, '') = 'Pending'
returning s.seq
