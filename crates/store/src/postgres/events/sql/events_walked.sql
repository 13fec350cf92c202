-- Where such a walk ends, if it did not come to the end.
select w.seq from outbox_messages w
where w.seq < $2::bigint and ($1::integer is null or w.tenant = (select t.name from tenants t where t.tenant = $1))
order by w.seq desc
limit 1 offset $3::bigint
