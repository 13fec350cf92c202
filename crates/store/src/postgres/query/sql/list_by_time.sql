-- $1 tenant, $2 from, $3 and $4 the last place looked at, $5 how many. Newest first.
select seq, created_at
from notifications
where tenant = $1::integer and created_at >= $2::timestamptz and (created_at, seq) < ($3::timestamptz, $4::bigint)
order by created_at desc, seq desc
limit $5::bigint
