delete from sessions where tenant = ?1
