-- $1 now, $2 tenant. The name becomes free for another: no tenant's name may have a space in it.
update tenants
set deleted_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), name = name || ' #' || tenant
where tenant = $2::integer and deleted_at is null
returning left(name, -length(' #' || tenant)) as name
