delete from sites where tenant = $1::integer
