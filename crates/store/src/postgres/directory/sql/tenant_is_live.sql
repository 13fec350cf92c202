select exists (select from tenants where tenant = $1::integer and deleted_at is null)
