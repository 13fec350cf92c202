-- $1 tenant, $2 since, $3 how many. The newest attempts that delivered, whoever made them.
select o.attempt_target as provider, o.at
from outcome o
where o.tenant = $1::integer and o.attempt_token is not null and o.at >= $2::timestamptz
order by o.at desc, o.seq desc
limit $3::bigint
