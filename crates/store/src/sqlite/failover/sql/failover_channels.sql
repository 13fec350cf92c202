select channel from channel_orders where tenant = ?1 and failover order by channel
