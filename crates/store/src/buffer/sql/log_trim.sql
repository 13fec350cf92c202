delete from replication_log where number <= ?1
