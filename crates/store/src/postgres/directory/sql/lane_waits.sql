select exists (select from due where lane = $1::bigint)
