-- The same over the events of all.
select w.seq from outbox_messages w where w.seq < ?1 order by w.seq desc limit 1 offset ?2
