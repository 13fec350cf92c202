select * from sf_messages where status = 2 and seq > ?1 and (?2 is null or category = ?2) order by seq limit ?3
