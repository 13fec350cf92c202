select tenant, name, created_at from tenants where name = $1::text
