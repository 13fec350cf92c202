insert into lists (tenant, name, recipients) values (?1, ?2, ?3)
on conflict (tenant, name) do nothing
