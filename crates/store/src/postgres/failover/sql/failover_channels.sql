select channel from channel_orders where tenant = $1::integer and failover order by channel
