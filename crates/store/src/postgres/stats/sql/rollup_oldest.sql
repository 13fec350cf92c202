select bucket as oldest from stats order by bucket limit 1
