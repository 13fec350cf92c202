-- $1 how many. The lanes with so many of them, counted in the index that finds them.
select lane from receipt_inbox
where tries > 0 and message_id is not null
group by lane
having count(*) >= $1::bigint
