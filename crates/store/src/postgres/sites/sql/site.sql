-- $1 tenant, $2 site.
select * from sites where tenant = $1::integer and site = $2::text
