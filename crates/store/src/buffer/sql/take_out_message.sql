delete from sf_messages where seq = ?1
