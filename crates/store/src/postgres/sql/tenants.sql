select tenant, name, created_at from tenants order by tenant
