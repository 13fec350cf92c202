delete from user_roles where tenant = ?1
