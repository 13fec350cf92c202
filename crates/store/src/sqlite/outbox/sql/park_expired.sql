-- ?1 now, ?2 how many. One that is being sent is left alone: it may arrive yet.
delete from due
where seq in (
  select seq from due
  where expires_at <= ?1 and (leased_until is null or leased_until <= ?1)
  order by expires_at
  limit ?2
)
returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error, token is not null,
  (select n.id from notifications n where n.seq = due.seq)
