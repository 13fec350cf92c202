update schedules set status = ?2, messages = ?3 where seq = ?1
