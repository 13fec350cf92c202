-- $1 the bound up to which each is counted.
select
  (select count(*) from (select from receipt_inbox where tries = 0 limit $1::bigint) as counted) as fresh,
  (select count(*) from (select from receipt_inbox where tries > 0 limit $1::bigint) as counted) as later
