-- One too many is not written; changing one that is there always works.
insert into saved_filters (user_id, tenant, name, query)
select $1::bigint, $2::integer, $3::text, $4::text
where (select count(*) from saved_filters where user_id = $1::bigint and tenant = $2::integer and name <> $3::text) < $5::bigint
on conflict (user_id, tenant, name) do update set query = excluded.query
