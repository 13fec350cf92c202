-- Once, when the file is opened.
select count(*) as n, coalesce(sum(octet_length(payload_json)), 0) as bytes from tombstones where payload_json is not null
