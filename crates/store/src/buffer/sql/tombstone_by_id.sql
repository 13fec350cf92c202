-- The latest end: a notification that was sent again ends twice.
select * from tombstones where id = ?1 order by seq desc limit 1
