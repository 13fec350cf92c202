delete from tombstones where payload_json is not null
