-- $1 now, $2 tenants, $3 ids.
insert into spent_keys (tenant, id, at)
select tenant, id, coalesce($1::timestamptz, date_trunc('milliseconds', now()))
from unnest($2::integer[], $3::uuid[]) as given (tenant, id)
on conflict (tenant, id) do nothing
