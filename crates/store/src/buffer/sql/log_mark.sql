-- A change of no table: numbers go on behind it.
insert into replication_log (number, tbl, key) values (?1, 0, '')
