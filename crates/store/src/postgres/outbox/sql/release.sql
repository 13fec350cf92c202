-- $1 seqs, $2 tokens. The claim did not lead to an attempt, so it is not counted.
update due
set leased_until = null, claims = greatest(due.claims - 1, 0), token = null
from unnest($1::bigint[], $2::bigint[]) as given (seq, token)
where due.seq = any (array[given.seq]) and due.token = given.token
