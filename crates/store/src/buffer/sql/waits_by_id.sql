-- Parked ones as well: a person may have had it made at the other machine. A call or write whose attempt is under way may end otherwise.
select seq from sf_messages where id = ?1 and status in (0, 2) and attempting_at is null and category <> 1
