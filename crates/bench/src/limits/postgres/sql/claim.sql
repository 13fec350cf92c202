-- The chosen rows as an array: worked out once, then looked up by primary key.
with mine as (
  update work
  set due_at = now() + interval '1 minute', tries = tries + 1
  where seq = any (array(
    select seq from work where due_at <= now() order by due_at, seq limit $1 for update skip locked
  ))
  returning seq
)
select message.seq, message.payload, message.key
from message
where message.seq = any (array(select seq from mine))
