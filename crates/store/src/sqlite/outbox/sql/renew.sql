update due set leased_until = ?3 where seq = ?1 and token = ?2
