select bucket, what, n from stats_rollup where tenant = ?1 and step = ?2 and bucket >= ?3
