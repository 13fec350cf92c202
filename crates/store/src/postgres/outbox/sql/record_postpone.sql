-- $1 now, then arrays: $2 seq, $3 token, $4 wait in milliseconds, $5 code, $6 error, $7 the far end's own code,
-- $8 whether somebody may have it.
-- Not its fault and not now: due then, uncounted, with the reason shown.
update due
set claims = greatest(due.claims - 1, 0), token = null, leased_until = null,
  due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + given.wait * interval '1 millisecond',
  code = given.code, provider_code = given.provider_code, error = given.error, in_doubt = due.in_doubt or given.in_doubt
from unnest($2::bigint[], $3::bigint[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::boolean[])
  as given (seq, token, wait, code, error, provider_code, in_doubt)
where due.seq = any (array[given.seq]) and due.token = given.token
returning due.seq, due.generation, due.superseded
