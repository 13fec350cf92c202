update tombstones set payload_json = null
where seq in (select seq from tombstones where payload_json is not null and ended_at < ?1 order by ended_at limit ?2)
