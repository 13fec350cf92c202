delete from tombstones where seq in (select value from json_each(?1))
