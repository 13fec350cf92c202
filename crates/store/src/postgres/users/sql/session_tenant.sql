update sessions set tenant = $2::integer where hash = $1::bytea
