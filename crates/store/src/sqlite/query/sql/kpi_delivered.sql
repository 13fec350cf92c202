select coalesce(sum(n), 0) from stats where bucket >= ?2 and tenant = ?1 and what = 'Delivered'
