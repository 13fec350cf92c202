select number, tbl, key from replication_log where number > ?1 order by number limit ?2
