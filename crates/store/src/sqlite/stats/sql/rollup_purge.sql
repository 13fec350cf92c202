-- Steps of ?1 seconds from before ?2.
delete from stats_rollup
where tenant in (select tenant from tenants) and step = ?1 and bucket < ?2
