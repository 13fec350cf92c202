insert into sites (tenant, site, created_at) values (?1, ?2, ?3)
on conflict do nothing
