-- Filters are applied by the reader, in bounded steps: no index fits them all.
select * from site_calls
where tenant = ?1 and created_at >= ?2 and (created_at, call_id) < (?3, ?4)
order by created_at desc, call_id desc
limit ?5
