-- ?1 first seq, ?2 last. Both counts of each bucket, as ingest and the recorder would have kept them.
insert into stats (bucket, tenant, site, what, writer, n)
select created_at - created_at % 10000, tenant, coalesce(site, ''), counted.column1, 'bench', count(*)
from notifications
cross join (values ('Accepted'), ('Delivered')) as counted
where seq between ?1 and ?2
group by 1, 2, 3, 4
on conflict (bucket, tenant, site, what, writer) do update set n = n + excluded.n
