-- $1 now, $2 how long they are kept, in milliseconds, $3 where counting stops.
select least($3::bigint, (
  select count(*) from (
    select from tenants
    cross join lateral (
      select from outcome o
      where o.tenant = tenants.tenant and o.attempt_token is not null
        and o.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
      limit $3::bigint
    ) old
    limit $3::bigint
  ) deliveries
) + (
  select count(*) from (
    select from outcome o
    where o.attempt_token is null
      and o.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
    limit $3::bigint
  ) others
)) as count
