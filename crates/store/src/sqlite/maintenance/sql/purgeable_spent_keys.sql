select count(*) from (select 1 from spent_keys where at < ?1 limit ?2)
