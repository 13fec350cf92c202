select '' as site, count(*) from outcome where status = 'Parked'
