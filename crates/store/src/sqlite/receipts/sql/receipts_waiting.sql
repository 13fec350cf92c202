-- Each counted up to a bound.
select
  (select count(*) from (select 1 from receipt_inbox where tries = 0 limit ?1)) as fresh,
  (select count(*) from (select 1 from receipt_inbox where tries > 0 limit ?1)) as later
