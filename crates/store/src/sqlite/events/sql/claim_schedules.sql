update schedules set token = ?2, leased_until = ?3 where seq = ?1
