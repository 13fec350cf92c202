-- ?1 tenant, ?2 now. The name becomes free for another: no tenant's name may have a space in it.
update tenants
set deleted_at = ?2, name = name || ' #' || tenant
where tenant = ?1 and deleted_at is null
returning substr(name, 1, length(name) - length(' #' || tenant)) as name
