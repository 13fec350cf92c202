select count(*) from (select 1 from stats where bucket < ?1 limit ?2)
