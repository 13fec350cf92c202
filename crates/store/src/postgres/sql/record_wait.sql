-- $1 now, then arrays: $2 seq, $3 token, $4 code, $5 error.
-- Not the message's fault: due at once, uncounted, with the reason shown.
update due
set claims = greatest(due.claims - 1, 0), token = null, due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  code = given.code, error = given.error
from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[]) as given (seq, token, code, error)
where due.seq = given.seq and due.token = given.token
returning due.seq, due.generation
