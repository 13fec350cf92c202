insert into stats (bucket, tenant, site, what, writer, n)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (bucket, tenant, site, what, writer) do update set n = n + excluded.n
