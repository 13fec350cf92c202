select exists (select 1 from tenants where tenant = ?1 and deleted_at is null)
