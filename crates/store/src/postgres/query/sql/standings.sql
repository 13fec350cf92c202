-- $1 tenant, $2 ids.
select n.id, coalesce(d.attempts, o.attempts, 0) as attempts, d.seq is not null as waits, o.status, o.at,
  case when d.seq is null then o.error else d.error end as error
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
where n.tenant = $1::integer and n.id = any($2::uuid[])
