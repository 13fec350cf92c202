delete from outcome where seq = any ($1::bigint[])
