-- $1 tenant, $2 the last seq looked at, $3 how many.
select seq
from outcome
where tenant = $1::integer and status = 'Parked' and seq < $2::bigint
order by seq desc
limit $3::bigint
