delete from sign_in_links where expires_at <= ?1
