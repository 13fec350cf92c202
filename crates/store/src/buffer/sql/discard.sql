delete from sf_messages where id = ?1 and status = 2 returning *
