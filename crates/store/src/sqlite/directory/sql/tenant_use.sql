-- ?1 tenant, ?2 the most that is counted of each.
select
  (select count(*) from (select 1 from providers where tenant = ?1 limit ?2)) as providers,
  (select count(*) from (select 1 from due where tenant = ?1 limit ?2)) as waiting,
  (select count(*) from (select 1 from outcome where tenant = ?1 and status = 'Parked' limit ?2)) as parked
