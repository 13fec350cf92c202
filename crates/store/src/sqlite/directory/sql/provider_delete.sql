delete from providers where tenant = ?1 and id = ?2
