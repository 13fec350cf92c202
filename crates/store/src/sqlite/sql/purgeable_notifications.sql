select count(*) from (select 1 from outcome where at < ?1 limit ?2)
