select key, until from pauses where lane = ?1 and until > ?2
