insert into sign_in_links (hash, user_id, expires_at) values (?1, ?2, ?3)
