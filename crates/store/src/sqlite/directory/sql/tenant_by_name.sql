select tenant, name, created_at from tenants where name = ?1 and deleted_at is null
