-- That somebody looked in the minute ?1: a tenant without a figure in it had none, and one without this row is not known.
insert into stats_rollup (tenant, step, bucket, what, n) select tenant, 60, ?1, ?2, 1 from tenants where deleted_at is null
on conflict (tenant, step, bucket, what) do nothing
