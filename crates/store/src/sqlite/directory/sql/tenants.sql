select tenant, name, created_at from tenants where deleted_at is null order by tenant
