-- The queue with its indexes, and everything written to the log since the server was made.
select pg_total_relation_size(to_regclass('waypost.due')), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint,
  pg_database_size(current_database())
