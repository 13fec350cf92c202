-- The row an id already has, and where it stands.
select n.content_hash, case when d.seq is null then o.status when d.attempts = 0 then 'Pending' else 'Retrying' end
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
where n.tenant = ?1 and n.id = ?2
