select min(?2, (
  select count(*) from (
    select 1
    from tenants t
    cross join outcome d indexed by outcome_deliveries
    where d.tenant = t.tenant and d.attempt_token is not null and d.at < ?1
    limit ?2
  )
) + (
  select count(*) from (select 1 from outcome d where d.attempt_token is null and d.at < ?1 limit ?2)
))
