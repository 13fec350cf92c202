-- A call or write whose attempt is under way may end otherwise.
select seq from sf_messages where id = ?1 and status = 0 and attempting_at is null and category <> 1
