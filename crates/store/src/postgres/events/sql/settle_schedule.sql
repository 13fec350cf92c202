-- $1 now; then one array per column.
update schedules s
set status = given.status, due_at = coalesce(given.due_at, s.due_at),
  next_look_at = coalesce(given.look_at, coalesce($1::timestamptz, date_trunc('milliseconds', now())) + given.look_after * interval '1 millisecond'),
  attempts = s.attempts + given.counted, last_error = given.error,
  -- A token without a lease is no claim any more: it only tells whoever claims next that nobody touched it since.
  token = case when given.keeps_token then s.token end, leased_until = null,
  settled_at = case when given.status <> 'Pending' then coalesce($1::timestamptz, date_trunc('milliseconds', now())) end
from unnest(
  $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::float8[], $8::integer[], $9::text[], $10::boolean[]
) as given (seq, token, status, due_at, look_at, look_after, counted, error, keeps_token)
-- By its number: an index of what is pending, which the bare status would allow, is walked as a whole for each of them.
where s.seq = any (array[given.seq]) and s.token = given.token and s.leased_until is not null and coalesce(s.status, '') = 'Pending'
