insert into channel_orders (tenant, channel, failover) values ($1::integer, $2::text, $3::boolean)
on conflict (tenant, channel) do update set failover = excluded.failover
