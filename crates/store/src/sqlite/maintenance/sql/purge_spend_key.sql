insert into spent_keys (tenant, id, at) values (?1, ?2, ?3) on conflict do nothing
