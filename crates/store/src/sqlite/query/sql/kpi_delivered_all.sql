select coalesce(sum(n), 0) from stats where bucket >= ?1 and what = 'Delivered'
