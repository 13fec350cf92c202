-- $1 tenant, $2 first id, $3 last id, $4 the last seq looked at, $5 how many, $6 the most that are looked at.
-- Ids that begin alike, newest numbers first. Materialized: an order by seq may otherwise begin with the whole table.
with alike as materialized (
  select seq from notifications
  where tenant = $1::integer and id between $2::uuid and $3::uuid
  order by id desc
  limit $6::bigint
)
select seq from alike
where seq < $4::bigint
order by seq desc
limit $5::bigint
