select min(oldest.at) from (
  select (
    select o.at from outcome o where o.tenant = t.tenant and o.attempt_token is not null order by o.at limit 1
  ) as at
  from tenants t
  union all
  select * from (select o.at from outcome o where o.attempt_token is null order by o.at limit 1)
) oldest
