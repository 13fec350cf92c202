delete from user_roles where user_id = $1::bigint and tenant = $2::integer
