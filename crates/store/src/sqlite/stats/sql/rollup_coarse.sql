-- A cross join is walked as written: tenants first.
-- Steps of ?3 seconds out of minutes, from ?1 (the start of a step) to before ?2. What was sampled is not added up, and that
-- somebody looked is told of minutes only.
insert into stats_rollup (tenant, step, bucket, what, n)
select m.tenant, ?3, m.bucket - m.bucket % (?3 * 1000), m.what, iif(m.what like '=%', max(m.n), sum(m.n))
from tenants t
cross join stats_rollup m on m.tenant = t.tenant and m.step = 60 and m.bucket >= ?1 and m.bucket < ?2 and m.what <> '=Sampled'
group by 1, 3, 4
on conflict (tenant, step, bucket, what) do update set n = excluded.n
