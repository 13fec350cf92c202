-- Nothing that is due already or being sent right now.
update due set due_at = ?3
where seq = (select seq from notifications where tenant = ?1 and id = ?2)
  and due_at > ?3 and (leased_until is null or leased_until <= ?3)
returning seq, lane
