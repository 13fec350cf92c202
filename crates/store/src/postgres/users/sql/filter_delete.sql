delete from saved_filters where user_id = $1::bigint and tenant = $2::integer and name = $3::text
