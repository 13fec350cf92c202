-- A notification is in `due` or in `outcome`; rows of those that belong to none are counted too.
select
  (select count(*) from notifications n
   where (select count(*) from due d where d.seq = n.seq) + (select count(*) from outcome o where o.seq = n.seq) <> 1)
  + (select count(*) from due d where not exists (select 1 from notifications n where n.seq = d.seq))
  + (select count(*) from outcome o where not exists (select 1 from notifications n where n.seq = o.seq))
