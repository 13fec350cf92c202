select name, query from saved_filters where user_id = ?1 and tenant = ?2 order by name
