-- The tenant's own rows: other backlogs cost nothing.
select seq from due
where tenant = ?1 and seq < ?2
order by seq desc
limit ?3
