-- What has waited since before ?2 was accepted before that, and numbers follow acceptance unless the clock was set back: the
-- highest number among the last ?5 of that time is no lower than that of any such row. Newest first, below ?3.
select seq from due
where tenant = ?1 and seq < min(?3, (
    select coalesce(max(late.seq) + 1, 0)
    from (
      select seq
      from notifications
      where tenant = ?1 and created_at < ?2
      order by created_at desc, seq desc
      limit ?5
    ) late
  ))
order by seq desc
limit ?4
