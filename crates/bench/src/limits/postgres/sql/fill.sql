with stored as (
  insert into message (key, payload)
  select * from unnest($1::text[], $2::text[])
  on conflict do nothing
  returning seq
)
insert into work (seq) select seq from stored
