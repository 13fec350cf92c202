select name, recipients from lists where tenant = $1::integer and name = $2::text
