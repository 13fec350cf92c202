-- $1 now.
insert into suppressions_lifted (tenant, address_key, lifted_at)
values ($2::integer, $3::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())))
on conflict (tenant, address_key) do update set lifted_at = excluded.lifted_at
