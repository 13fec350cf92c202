-- The timeline changes when a standby is promoted or a backup is rolled forward; system and oid when the database is
-- another one; the start when its files may have been put back from a snapshot while it was down. Asked of the server
-- that takes writes.
select
  (select value from meta where key = 'database_id') as id,
  concat_ws(
    '.',
    (select system_identifier from pg_control_system()),
    (select oid from pg_database where datname = current_database()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8),
    extract(epoch from pg_postmaster_start_time())::bigint
  ) as epoch
