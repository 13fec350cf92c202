-- $1 seq, $2 tenant, $3 id. Locks the outcome of a notification that has ended.
select outcome.generation, outcome.status
from outcome
join notifications n on n.seq = outcome.seq
where outcome.seq = $1::bigint and n.tenant = $2::integer and n.id = $3::uuid
for update of outcome
