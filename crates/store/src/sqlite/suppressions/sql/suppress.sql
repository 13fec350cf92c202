insert into suppressions (tenant, address_key, address, channel, topic, reason, source, created_at, created_by)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
on conflict (tenant, address_key, channel, topic) do nothing
