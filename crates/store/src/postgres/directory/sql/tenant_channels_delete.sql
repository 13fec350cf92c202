delete from channel_orders where tenant = $1::integer
