delete from sign_in_links where user_id = $1::bigint
