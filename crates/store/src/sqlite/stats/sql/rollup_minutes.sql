-- From ?1 (the start of a minute) to before ?2.
insert into stats_rollup (tenant, step, bucket, what, n)
select tenant, 60, bucket - bucket % 60000, what, sum(n) from stats
where bucket >= ?1 and bucket < ?2
group by 1, 3, 4
on conflict (tenant, step, bucket, what) do update set n = excluded.n
