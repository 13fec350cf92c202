delete from pauses where lane = ?1 and until <= ?2
