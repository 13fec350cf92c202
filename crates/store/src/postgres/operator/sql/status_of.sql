-- $1 tenant, $2 ids.
select n.id, case when d.seq is null then o.status when d.attempts = 0 then 'Pending' else 'Retrying' end as status
from unnest($2::uuid[]) as given (id)
join notifications n on n.tenant = $1::integer and n.id = given.id
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
