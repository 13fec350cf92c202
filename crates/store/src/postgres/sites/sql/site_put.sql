-- $1 now, $2 tenant, $3 site.
insert into sites (tenant, site, created_at)
values ($2::integer, $3::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())))
on conflict do nothing
