-- $1 seq, $2 tenant, $3 id. Locks the row of a notification that still waits.
-- The id is asked for too: the number of a row that was purged proves nothing.
select due.generation
from due
join notifications n on n.seq = due.seq
where due.seq = $1::bigint and n.tenant = $2::integer and n.id = $3::uuid
for update of due
