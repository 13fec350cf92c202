insert into stats_rollup (tenant, step, bucket, what, n) values (?1, 60, ?2, ?3, ?4)
on conflict (tenant, step, bucket, what) do update set n = excluded.n
