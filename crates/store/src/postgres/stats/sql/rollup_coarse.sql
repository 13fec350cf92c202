-- Steps of $3 seconds out of minutes, from $1 (the start of a step) to before $2. What was sampled is not added up, and that
-- somebody looked is told of minutes only.
insert into stats_rollup (tenant, step, bucket, what, n)
select
  m.tenant, $3::integer, date_bin($3::integer * interval '1 second', m.bucket, 'epoch'), m.what,
  case when m.what like '=%' then max(m.n) else sum(m.n)::bigint end
from tenants t
cross join lateral (
  select * from stats_rollup r
  where r.tenant = t.tenant and r.step = 60 and r.bucket >= $1::timestamptz and r.bucket < $2::timestamptz
    and r.what <> '=Sampled'
) m
group by 1, 3, 4
on conflict (tenant, step, bucket, what) do update set n = excluded.n
