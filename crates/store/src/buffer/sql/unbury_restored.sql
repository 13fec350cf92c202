-- The very rows that were taken back just before, in the same transaction.
delete from tombstones where seq in (
  select seq from tombstones where payload_json is not null order by ended_at, seq limit ?1)
returning octet_length(payload_json)
