-- From $1 (the start of a minute) to before $2.
insert into stats_rollup (tenant, step, bucket, what, n)
select tenant, 60, date_bin('1 minute', bucket, 'epoch'), what, sum(n)::bigint
from stats
where bucket >= $1::timestamptz and bucket < $2::timestamptz
group by 1, 3, 4
on conflict (tenant, step, bucket, what) do update set n = excluded.n
