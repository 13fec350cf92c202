-- $1 tenant, $2 from, $3 and $4 the last place looked at, $5 how many. Newest first.
-- Filters are applied by the reader, in bounded steps: no index fits them all.
select * from site_calls
where tenant = $1::integer and created_at >= $2::timestamptz and (created_at, call_id) < ($3::timestamptz, $4::bigint)
order by created_at desc, call_id desc
limit $5::bigint
