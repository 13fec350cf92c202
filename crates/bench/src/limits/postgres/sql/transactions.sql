-- $1 a database. Who is connected to it, and how many transactions it has seen.
select (select count(*) from pg_stat_activity where datname = $1::text),
  pg_stat_get_db_xact_commit(oid) + pg_stat_get_db_xact_rollback(oid)
from pg_database where datname = $1::text
