-- ?1 now, ?2 the start of the current bucket of counts.
select
  exists (select 1 from jobs where not finished and (owner_until is null or owner_until <= ?1)),
  exists (
    select 1 from stats
    where bucket >= coalesce((select cast(value as integer) from meta where key = 'stats_rolled_up_to'), 0) and bucket < ?2
  ),
  exists (select 1 from due where expires_at <= ?1 and (leased_until is null or leased_until <= ?1))
