insert into stats_rollup (tenant, step, bucket, what, n) values ($1::integer, 60, $2::timestamptz, $3::text, $4::bigint)
on conflict (tenant, step, bucket, what) do update set n = excluded.n
