select seq from notifications where tenant = ?1 and id = ?2
