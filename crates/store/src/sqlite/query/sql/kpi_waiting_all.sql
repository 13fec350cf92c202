select count(*), coalesce(sum(waiting_since < ?1), 0), min(waiting_since) from due
