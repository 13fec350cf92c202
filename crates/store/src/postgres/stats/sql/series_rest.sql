-- What is not condensed yet.
select bucket, what, sum(n)::bigint as n
from stats
where bucket >= $2::timestamptz and tenant = $1::integer
group by bucket, what
