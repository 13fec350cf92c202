delete from channel_orders where tenant = ?1
