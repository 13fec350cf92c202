-- The last number that was ever given: the last line is never let go of.
select coalesce(max(number), 0) from replication_log
