delete from waypost_outbox
where seq in (
  select seq from waypost_outbox where taken_at < cast(unixepoch('subsec') * 1000 as integer) - ?1 limit ?2
)
