-- $1 now, $2 name.
insert into tenants (name, created_at)
values ($2::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())))
on conflict (name) do nothing
returning tenant, name, created_at
