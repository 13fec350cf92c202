insert into user_roles (user_id, tenant, role) values (?1, ?2, ?3)
on conflict (user_id, tenant) do update set role = excluded.role
