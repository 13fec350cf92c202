update users set password = $2::text where user_id = $1::bigint
