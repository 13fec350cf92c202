-- Too much news for a central that does not come back: the oldest goes first.
delete from telemetry where seq in (select seq from telemetry order by seq limit ?1)
