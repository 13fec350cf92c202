with gone as (
  delete from work where seq = any ($1::bigint[]) returning seq
)
insert into log (seq, what, detail)
select seq, 1, '200 OK' from gone
