select count(*), coalesce(sum(waiting_since < ?2), 0), min(waiting_since) from due where tenant = ?1
