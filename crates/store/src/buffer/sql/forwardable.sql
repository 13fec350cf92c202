-- Oldest first; the caller goes on behind the last one it took.
select * from sf_messages where category = 1 and status = 0 and seq > ?1 order by seq limit ?2
