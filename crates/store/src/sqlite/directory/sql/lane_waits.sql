select exists (select 1 from due where lane = ?1)
