delete from sites where tenant = ?1
