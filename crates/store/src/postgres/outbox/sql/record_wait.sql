-- Arrays: $1 seq, $2 token, $3 code, $4 error, $5 the far end's own code, $6 whether somebody may have it.
-- Not the message's fault: due at once, uncounted, with the reason shown.
update due
set claims = greatest(due.claims - 1, 0), token = null, leased_until = null,
  code = given.code, provider_code = given.provider_code, error = given.error, in_doubt = due.in_doubt or given.in_doubt
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[])
  as given (seq, token, code, error, provider_code, in_doubt)
where due.seq = any (array[given.seq]) and due.token = given.token
returning due.seq, due.generation, due.superseded
