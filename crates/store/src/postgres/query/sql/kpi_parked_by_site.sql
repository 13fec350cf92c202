select coalesce(site, '') as site, count(*)
from outcome
where status = 'Parked' and tenant = $1::integer
group by 1
