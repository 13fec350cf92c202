select seq from notifications
where tenant = ?1 and execution = ?2 and seq < ?3
order by seq desc
limit ?4
