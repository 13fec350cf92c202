delete from user_roles where user_id = ?1 and tenant = ?2
