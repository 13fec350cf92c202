-- The latest end: a notification that was sent again ends twice.
select content_hash, ended_as, payload_json is not null as kept from tombstones where id = ?1 order by seq desc limit 1
