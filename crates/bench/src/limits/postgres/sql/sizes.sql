-- The queue with its indexes, and the log segments that are kept.
select pg_total_relation_size(to_regclass('waypost.due')),
  (select sum(size)::bigint from pg_ls_waldir())
