-- Arrays: $1 seq, $2 token, $3 code, $4 error, $5 the far end's own code.
-- Not the message's fault: due at once, uncounted, with the reason shown.
update due
set claims = greatest(due.claims - 1, 0), token = null, leased_until = null,
  code = given.code, provider_code = given.provider_code, error = given.error
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
  as given (seq, token, code, error, provider_code)
where due.seq = given.seq and due.token = given.token
returning due.seq, due.generation, due.superseded
