insert into suppressions_lifted (tenant, address_key, lifted_at) values (?1, ?2, ?3)
on conflict (tenant, address_key) do update set lifted_at = excluded.lifted_at
