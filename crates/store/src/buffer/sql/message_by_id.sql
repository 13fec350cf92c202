select * from sf_messages where id = ?1
