delete from due where seq = ?1
