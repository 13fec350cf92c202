-- $1 tenant, $2 the most that is counted of each.
select
  (select count(*) from (select from providers where tenant = $1::integer limit $2::bigint) p) as providers,
  (select count(*) from (select from due where tenant = $1::integer limit $2::bigint) d) as waiting,
  (select count(*) from (select from outcome where tenant = $1::integer and status = 'Parked' limit $2::bigint) o) as parked
