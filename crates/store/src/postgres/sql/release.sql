-- $1 now, $2 seqs, $3 tokens. The claim did not lead to an attempt, so it is not counted.
update due
set due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), claims = greatest(due.claims - 1, 0), token = null
from unnest($2::bigint[], $3::bigint[]) as given (seq, token)
where due.seq = given.seq and due.token = given.token
