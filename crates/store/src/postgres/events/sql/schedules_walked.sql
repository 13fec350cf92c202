-- Where a walk over a tenant's schedules ends, if it did not come to the end.
select w.seq from schedules w
where w.tenant = $1::integer and w.seq < $2::bigint
order by w.seq desc
limit 1 offset $3::bigint
