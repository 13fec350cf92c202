-- One too many is not written; changing one that is there always works.
insert into saved_filters (user_id, tenant, name, query)
select ?1, ?2, ?3, ?4
where (select count(*) from saved_filters where user_id = ?1 and tenant = ?2 and name <> ?3) < ?5
on conflict (user_id, tenant, name) do update set query = excluded.query
