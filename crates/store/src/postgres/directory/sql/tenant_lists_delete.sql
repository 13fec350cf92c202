delete from lists where tenant = $1::integer
