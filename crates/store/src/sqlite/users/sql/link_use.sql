delete from sign_in_links where hash = ?1 returning iif(expires_at > ?2, user_id, null)
