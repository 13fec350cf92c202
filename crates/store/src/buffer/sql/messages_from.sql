-- ?1 a place, ?2 how many are counted at most.
select count(*) from (select 1 from sf_messages where seq >= ?1 limit ?2)
