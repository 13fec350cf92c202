select seq from outcome
where tenant = ?1 and status = 'Parked' and seq < ?2
order by seq desc
limit ?3
