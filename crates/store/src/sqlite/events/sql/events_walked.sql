-- Where a walk over a tenant's events ends, if it did not come to the end.
select w.seq from outbox_messages w
where w.tenant = (select t.name from tenants t where t.tenant = ?1) and w.seq < ?2
order by w.seq desc
limit 1 offset ?3
