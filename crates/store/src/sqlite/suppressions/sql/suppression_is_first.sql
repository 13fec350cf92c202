select not exists (select 1 from suppressions where tenant = ?1)
