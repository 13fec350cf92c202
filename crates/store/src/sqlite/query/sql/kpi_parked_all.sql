select count(*) from outcome where status = 'Parked'
