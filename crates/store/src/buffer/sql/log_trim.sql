-- All but the last line, from which numbers go on.
delete from replication_log where number <= ?1 and number < (select max(number) from replication_log)
