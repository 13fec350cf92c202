select coalesce((select seq from sqlite_sequence where name = ?1), 0)
