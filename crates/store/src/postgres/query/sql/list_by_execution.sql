-- $1 tenant, $2 execution, $3 the last seq looked at, $4 how many.
select seq
from notifications
where tenant = $1::integer and execution = $2::text and seq < $3::bigint
order by seq desc
limit $4::bigint
