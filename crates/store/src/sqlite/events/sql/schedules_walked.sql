-- Where a walk over a tenant's schedules ends, if it did not come to the end.
select w.seq from schedules w
where w.tenant = ?1 and w.seq < ?2
order by w.seq desc
limit 1 offset ?3
