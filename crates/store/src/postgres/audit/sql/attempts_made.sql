-- $1 seq. The attempts of one notification, oldest first as they are shown (crate::audit::order): the token of each, if it
-- came to its end, and whether what was said in it is kept.
select made.token, said.seq is not null as kept
from (
  select at, 1 as source, audit_id as number, token
  from audit_log
  where seq = $1::bigint and kind = 'NotifyDeliver' and status = 'Attempted'
  union all
  select at, 0, seq, attempt_token from outcome where seq = $1::bigint and attempt_token is not null
) made
left join transcripts said on said.seq = $1::bigint and said.token = made.token
order by made.at, made.source, made.number
