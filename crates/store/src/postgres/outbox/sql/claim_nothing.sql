-- $1 now. What is wanted of a claim even when nothing is due.
select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
  (select value::bigint from meta where key = 'directory_version') as directory_version
