delete from tombstones where seq = ?1
