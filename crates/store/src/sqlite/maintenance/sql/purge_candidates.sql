-- Only what has ended is in this table, and each row in one of its two indexes of time.
select o.seq, o.tenant, n.id
from (
  select * from (
    select d.seq, d.tenant, d.at
    from tenants t
    cross join outcome d indexed by outcome_deliveries
    where d.tenant = t.tenant and d.attempt_token is not null and d.at < ?1
    limit ?2
  )
  union all
  select * from (
    select d.seq, d.tenant, d.at from outcome d where d.attempt_token is null and d.at < ?1 order by d.at, d.seq limit ?2
  )
) o
left join notifications n on n.seq = o.seq
order by o.at, o.seq
limit ?2
