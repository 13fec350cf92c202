insert into tenants (name, created_at) values (?1, ?2) returning tenant, name, created_at
