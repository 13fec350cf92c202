select tenant, name, created_at from tenants where name = $1::text and deleted_at is null
