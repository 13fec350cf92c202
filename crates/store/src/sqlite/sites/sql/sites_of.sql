select * from sites where tenant = ?1 order by site
