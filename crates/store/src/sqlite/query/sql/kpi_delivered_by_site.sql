select site, sum(n) from stats where bucket >= ?2 and tenant = ?1 and what = 'Delivered' group by site
