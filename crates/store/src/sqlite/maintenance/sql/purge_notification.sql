delete from notifications where seq = ?1
