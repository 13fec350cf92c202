-- What is not condensed yet.
select bucket, what, sum(n) from stats where bucket >= ?2 and tenant = ?1 group by bucket, what
