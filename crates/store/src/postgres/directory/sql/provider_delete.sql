delete from providers where tenant = $1::integer and id = $2::text
