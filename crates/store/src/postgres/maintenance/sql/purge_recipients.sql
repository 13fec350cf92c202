delete from recipient_results where seq = any ($1::bigint[])
