insert into user_roles (user_id, tenant, role) values ($1::bigint, $2::integer, $3::text)
on conflict (user_id, tenant) do update set role = excluded.role
