select not exists (select from suppressions where tenant = $1::integer)
