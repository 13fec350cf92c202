select coalesce(site, ''), count(*) from outcome where status = 'Parked' and tenant = ?1 group by 1
