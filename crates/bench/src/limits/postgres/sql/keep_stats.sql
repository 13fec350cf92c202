-- $1 first seq, $2 last. Both counts of each bucket, as ingest and the recorder would have kept them.
insert into waypost.stats (bucket, tenant, site, what, writer, n)
select date_bin('10 seconds', created_at, 'epoch'), tenant, coalesce(site, ''), what, 'bench', count(*)
from waypost.notifications
cross join (values ('Accepted'), ('Delivered')) as counted (what)
where seq between $1::bigint and $2::bigint
group by 1, 2, 3, 4
on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
