select count(*) from outcome where status = 'Parked' and tenant = ?1
