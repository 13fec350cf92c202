insert into whole (key, payload)
select * from unnest($1::text[], $2::text[])
on conflict do nothing
