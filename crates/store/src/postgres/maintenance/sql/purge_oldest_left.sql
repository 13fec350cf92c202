select least(
  (select min(o.at) from outcome o where o.attempt_token is null),
  (
    select min(oldest.at)
    from tenants
    cross join lateral (
      select o.at from outcome o
      where o.tenant = tenants.tenant and o.attempt_token is not null
      order by o.at
      limit 1
    ) oldest
  )
) as at
