-- With the mark of the claim before.
select seq, token from schedules
where status = 'Pending' and next_look_at <= ?1 and (leased_until is null or leased_until <= ?1)
order by next_look_at, seq
limit ?2
