-- What waits since before ?2, the last to begin first, from where the last page ended.
select seq, waiting_since from due
where tenant = ?1 and waiting_since < ?2 and (waiting_since, seq) < (?3, ?4)
order by waiting_since desc, seq desc
limit ?5
