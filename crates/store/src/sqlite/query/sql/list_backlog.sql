-- For a backlog too long to sort: newest first over all tenants, bounded.
select seq from due
where seq < ?1
order by seq desc
limit ?2
