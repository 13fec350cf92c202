select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
