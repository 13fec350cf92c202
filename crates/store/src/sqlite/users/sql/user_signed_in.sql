update users set last_sign_in_at = ?2 where user_id = ?1
