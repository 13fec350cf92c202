-- No key of a tenant that was deleted opens anything, whenever it was made.
select key_id, tenant, name, role, created_at, revoked_at, last_used_at from api_keys
where hash = ?1 and revoked_at is null
  and exists (select 1 from tenants t where t.tenant = api_keys.tenant and t.deleted_at is null)
