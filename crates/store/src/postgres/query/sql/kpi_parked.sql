select '' as site, count(*) from outcome where status = 'Parked' and tenant = $1::integer
