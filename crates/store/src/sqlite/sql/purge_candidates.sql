-- Only what has ended is in this table.
select o.seq, o.tenant, n.id
from outcome o
left join notifications n on n.seq = o.seq
where o.at < ?1
order by o.at, o.seq
limit ?2
