-- $1 now, $2 how long they are kept, in milliseconds, $3 how many. Only what has ended is in this table.
select o.seq, o.tenant, n.id
from outcome o
left join notifications n on n.seq = o.seq
where o.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
order by o.at, o.seq
limit $3::bigint
-- Another node's purge, or an operator who is sending the row round again, goes first.
for update of o skip locked
