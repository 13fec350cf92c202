update whole set state = 2, leased_until = null, ended_at = 1 where seq = ?1 and state = 1
