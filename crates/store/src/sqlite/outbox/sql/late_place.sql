-- Where a row stands whose lease was lost. The id is asked for too: a purged row's number proves nothing.
select coalesce(d.generation, o.generation), o.status
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
where n.seq = ?1 and n.tenant = ?2 and n.id = ?3
