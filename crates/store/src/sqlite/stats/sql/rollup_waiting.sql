-- What waits in each tenant: how much, how much of it since before ?1, and the oldest.
select tenant, count(*), sum(waiting_since < ?1), min(waiting_since) from due group by tenant
