select * from sites where tenant = ?1 and site = ?2
