select tenant, count(*) as parked from outcome where status = 'Parked' group by tenant
