-- Newest first.
select * from site_events where seq < ?1 order by seq desc limit ?2
