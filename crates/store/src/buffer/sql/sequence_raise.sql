update sqlite_sequence set seq = max(seq, ?2) where name = ?1
