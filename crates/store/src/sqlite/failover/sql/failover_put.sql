insert into channel_orders (tenant, channel, failover) values (?1, ?2, ?3)
on conflict (tenant, channel) do update set failover = excluded.failover
