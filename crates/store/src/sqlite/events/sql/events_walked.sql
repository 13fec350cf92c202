-- Where such a walk ends, if it did not come to the end.
select w.seq from outbox_messages w
where w.seq < ?2 and (?1 is null or w.tenant = (select name from tenants where tenant = ?1))
order by w.seq desc
limit 1 offset ?3
