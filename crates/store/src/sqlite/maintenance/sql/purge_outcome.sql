delete from outcome where seq = ?1
