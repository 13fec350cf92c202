-- $1 now, $2 lane.
delete from pauses where lane = $2::bigint and until <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
