update sessions set tenant = ?2 where hash = ?1
