-- $1 now, then arrays: $2 seq, $3 token, $4 what was said.
insert into transcripts (seq, token, at, said)
select given.seq, given.token, coalesce($1::timestamptz, date_trunc('milliseconds', now())), given.said
from unnest($2::bigint[], $3::bigint[], $4::text[]) as given (seq, token, said)
on conflict do nothing
