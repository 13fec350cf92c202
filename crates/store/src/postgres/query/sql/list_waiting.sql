-- $1 tenant, $2 the last seq looked at, $3 how many. The tenant's own rows: other backlogs cost nothing.
select seq
from due
where tenant = $1::integer and seq < $2::bigint
order by seq desc
limit $3::bigint
