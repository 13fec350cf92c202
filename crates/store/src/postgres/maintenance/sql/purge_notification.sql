delete from notifications where seq = any ($1::bigint[])
