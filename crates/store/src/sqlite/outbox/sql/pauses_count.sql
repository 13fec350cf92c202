select count(*) from pauses where lane = ?1
