-- Once, when the file is opened.
select category, status, count(*) as n, sum(octet_length(payload_json)) as bytes from sf_messages group by category, status
