select name, query from saved_filters where user_id = $1::bigint and tenant = $2::integer order by name
