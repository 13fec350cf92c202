-- The last number that was ever given.
select coalesce((select seq from sqlite_sequence where name = 'replication_log'), 0)
