update sessions set expires_at = ?2 where hash = ?1 and expires_at > ?3
