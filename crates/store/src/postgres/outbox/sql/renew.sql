-- $1 now, $2 seqs, $3 tokens, $4 lease in milliseconds.
update due
set leased_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond'
from unnest($2::bigint[], $3::bigint[]) as given (seq, token)
where due.seq = any (array[given.seq]) and due.token = given.token
returning due.seq, due.token
