select coalesce(d.attempts, o.attempts, 0) as attempts, d.seq is not null as waits, o.status, o.at,
  iif(d.seq is null, o.error, d.error) as error
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
where n.tenant = ?1 and n.id = ?2
