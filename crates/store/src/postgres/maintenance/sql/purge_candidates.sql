-- $1 now, $2 how long they are kept, in milliseconds, $3 how many. Only what has ended is in this table, and each row in
-- one of its two indexes of time.
select o.seq, o.tenant, n.id
from outcome o
left join notifications n on n.seq = o.seq
where o.seq = any (array(
  (
    select old.seq
    from tenants
    cross join lateral (
      select d.seq from outcome d
      where d.tenant = tenants.tenant and d.attempt_token is not null
        and d.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
      order by d.at, d.seq
      limit $3::bigint
    ) old
    limit $3::bigint
  )
  union all
  (
    select d.seq from outcome d
    where d.attempt_token is null
      and d.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
    order by d.at, d.seq
    limit $3::bigint
  )
))
order by o.at, o.seq
limit $3::bigint
-- Another node's purge, or an operator who is sending the row round again, goes first.
for update of o skip locked
