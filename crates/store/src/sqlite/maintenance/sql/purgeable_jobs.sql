select count(*) from (select 1 from jobs where finished and created_at < ?1 limit ?2)
