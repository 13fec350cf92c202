-- What may still have to be sent again is not past its time, however old it is.
delete from tombstones where seq in (
  select seq from tombstones where ended_at < ?1 and payload_json is null order by ended_at limit ?2)
